"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  const given = Array.from(body.rows);
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const order = next === undefined ? "ascending" : next;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      let rows = given;
      if (order !== null) {
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const numeric = head.classList.contains("number");
        const key = (row) => (numeric ? row.cells[at].dataset.key : row.cells[at].textContent);
        rows = given.slice().sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === "" || y === "") return (x === "") - (y === ""); // what is missing stays last
          return sign * (numeric ? Number(x) - Number(y) || 0 : compare(x, y));
        });
      }
      body.append(...rows);
    });
  });
}
