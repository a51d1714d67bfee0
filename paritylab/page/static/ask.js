// How the page asks its server: a document back, or an error with the server's sentence and the field that it is about.

export class Wrong extends Error {
  constructor({ sentence, field }) {
    super(sentence);
    this.field = field ?? "";
  }
}

export async function ask(path, sent, signal) {
  const options = sent === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent) };
  let answer;
  try {
    answer = await fetch(path, { ...options, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Wrong({ sentence: "The server does not answer. Start 'paritylab serve' again." });
  }
  const content = await answer.json();
  if (!answer.ok || content.wrong) throw new Wrong(content.wrong ?? content);
  return content;
}

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
