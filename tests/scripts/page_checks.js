// Runs first in the page that tests/scripts/report_test.py opens: keeps what goes wrong, then looks
// at what is drawn, and leaves the result in the frame's parent. matplotlib draws text as groups
// "text_N".
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
    const name = texts[i].id;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
        box.top < frame.top - 1 || box.bottom > frame.bottom + 1) wrong.push("cut: " + name);
    for (let j = 0; j < i; ++j) {
      const across = Math.min(box.right, boxes[j].right) - Math.max(box.left, boxes[j].left);
      const down = Math.min(box.bottom, boxes[j].bottom) - Math.max(box.top, boxes[j].top);
      if (across > 2 && down > 2) wrong.push("overlap: " + texts[j].id + " and " + name);
    }
  });
}

addEventListener("load", () => {
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push("the page is " + root.scrollWidth + " wide");
  const figures = [...document.querySelectorAll("figure svg")];
  figures.forEach(checkFigure);
  const result = {
    wrong,
    width: root.clientWidth,
    figures: figures.map(svg => svg.closest("figure").id),
    paper: getComputedStyle(document.body).backgroundColor,
  };
  const output = document.createElement("pre");
  output.id = "checks";
  output.textContent = JSON.stringify(result);
  parent.document.documentElement.append(output);
});
