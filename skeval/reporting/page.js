// headers become buttons, long tables and lists of columns can be filtered, what is wider than its
// box can be moved by keys; without a script the page is as it was
const filtered = (what, items, before, said) => {
  const label = document.createElement("label"), input = document.createElement("input");
  label.className = "filter";
  input.type = "search";
  label.append(`Only ${what} with`, input);
  before.before(label);
  const texts = items.map((item) => said(item).textContent.toLowerCase());
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(" ");
    items.forEach((item, i) => { item.hidden = !words.every((word) => texts[i].includes(word)); });
  });
};
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent.trim();
  const order = (a, b) => a !== "" && b !== "" && !isNaN(a) && !isNaN(b)
    ? a - b : a.localeCompare(b, "en", { numeric: true });
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, i), row]);
      rows.sort(([a], [b]) => (a === "") - (b === "") || sign * order(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  });
  if (body.rows.length > 5 && !table.closest("details")) {
    filtered("rows", [...body.rows], table.parentElement, (row) => row);
  }
}
for (const list of document.querySelectorAll(".folds")) {
  const folds = [...list.children], all = document.createElement("button");
  all.type = "button";
  all.className = "all";
  all.textContent = "Unfold all";
  all.addEventListener("click", () => {
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
    all.textContent = open ? "Fold all" : "Unfold all";
  });
  filtered("columns", folds, list, (fold) => fold.firstElementChild);
  list.before(all);
}
const unfold = () => {
  const fold = document.getElementById(location.hash.slice(1));
  if (fold instanceof HTMLDetailsElement) fold.open = true;
};
addEventListener("hashchange", unfold);
unfold();
const boxes = document.querySelectorAll(".wide");
const reached = () => {
  for (const box of boxes) {
    const wider = box.scrollWidth > box.clientWidth;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "Table"]]) {
      if (wider) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
};
new ResizeObserver(reached).observe(document.body);
for (const fold of document.querySelectorAll("details")) fold.addEventListener("toggle", reached);
