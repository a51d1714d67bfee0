// Lists and tables, made of what the library sends; texts stay texts.

export function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => {
    const option = new Option(text, value);
    option.selected = String(value) === String(chosen);
    return option;
  }));
}

export function tabulate(table, columns, rows) {
  const line = (cells, kind) => {
    const row = document.createElement("tr");
    for (const cell of cells) {
      const made = document.createElement(kind);
      made.textContent = cell ?? "–";
      row.append(made);
    }
    return row;
  };
  table.replaceChildren(line(columns, "th"), ...rows.map((row) => line(row, "td")));
}
