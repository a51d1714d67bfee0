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
