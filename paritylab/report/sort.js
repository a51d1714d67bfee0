// A click on a column's head sorts by it, a second click the other way round: numbers, then words; what is empty comes last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[place].dataset.value;
      const order = (one, other) => {
        const [a, b] = [value(one), value(other)];
        if (a === "" || b === "") return (a === "") - (b === "");
        const words = isNaN(a) - isNaN(b);
        const sign = words || (isNaN(a) ? a.localeCompare(b, "en", { numeric: true }) : Number(a) - Number(b));
        return down ? -sign : sign;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(order));
    });
  });
}
