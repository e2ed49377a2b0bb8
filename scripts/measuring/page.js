// Sorts a table by the column whose heading is pressed: ascending, then descending.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const key = row => row.cells[column].dataset.value;
    const number = row => parseFloat(key(row)) || 0;
    const ascending = head.classList.contains("number")
      ? (a, b) => number(a) - number(b)
      : (a, b) => key(a).localeCompare(key(b), undefined, {numeric: true});
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = down ? (a, b) => ascending(b, a) : ascending;
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    });
  });
}
