// Runs first in the page that tests/report_test.py opens: keeps what goes wrong, then looks at what
// is drawn, and leaves the result in the frame's parent. matplotlib draws text as groups "text_N".
const wrong = [];
addEventListener("error", event => wrong.push("error: " + event.message), true);
for (const kind of ["error", "warn"]) {
  console[kind] = (...words) => wrong.push(kind + ": " + words.join(" "));
}

function checkFigure(svg) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('[id*="-text_"]')]
    .filter(text => text.querySelector("use, path"));
  const boxes = texts.map(text => text.getBoundingClientRect());
  boxes.forEach((box, i) => {
    const name = texts[i].id + " in " + svg.closest("figure").id;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
        box.top < frame.top - 1 || box.bottom > frame.bottom + 1) wrong.push("cut: " + name);
    for (let j = 0; j < i; ++j) {
      const across = Math.min(box.right, boxes[j].right) - Math.max(box.left, boxes[j].left);
      const down = Math.min(box.bottom, boxes[j].bottom) - Math.max(box.top, boxes[j].top);
      if (across > 2 && down > 2) wrong.push("overlap: " + texts[j].id + " and " + name);
    }
  });
}

function checkElement(element, width) {
  const box = element.getBoundingClientRect();
  const overflows = element.clientWidth && element.scrollWidth > element.clientWidth + 1;
  if (box.width && (box.right > width + 1 || box.left < -1 || overflows)) {
    wrong.push("cut: " + element.tagName + " " + element.textContent.slice(0, 40));
  }
}

// Whether pressing a heading sorts: ascending, then descending.
function sortedOrders(table) {
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex(cell => cell.textContent === "Gfloat/s");
  return ["ascending", "descending"].map(order => {
    heads[column].querySelector("button").click();
    const values = [...table.tBodies[0].rows]
      .map(row => parseFloat(row.cells[column].dataset.value));
    const isOrdered = (a, b) => order === "ascending" ? a <= b : a >= b;
    return heads[column].ariaSort === order &&
           values.every((value, i) => i === 0 || isOrdered(values[i - 1], value));
  });
}

addEventListener("load", () => {
  const root = document.documentElement, width = root.clientWidth;
  if (root.scrollWidth > width) wrong.push("the page is " + root.scrollWidth + " wide");
  const shown = [...document.querySelectorAll("figure svg")]
    .filter(svg => svg.getBoundingClientRect().width > 0);
  shown.forEach(checkFigure);
  const texts = "h1, h2, h3, p, td, th, dd, dt, figcaption, a, caption";
  for (const element of document.querySelectorAll(texts)) checkElement(element, width);
  const table = document.querySelector("table.sortable");
  const result = {
    wrong,
    width,
    sorted: table ? sortedOrders(table) : [],
    figures: shown.map(svg => svg.closest("figure").id),
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    paper: getComputedStyle(document.body).backgroundColor,
  };
  const output = document.createElement("pre");
  output.id = "checks";
  output.textContent = JSON.stringify(result);
  parent.document.documentElement.append(output);
});
