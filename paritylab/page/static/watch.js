// Watch: choose, start, and see what the runs record while they train.
import { Wrong, ask } from "./ask.js";
import { board } from "./board.js";
import { fill } from "./elements.js";

const at = (name) => document.getElementById(name);
const form = at("form");
const TITLES = {
  inputs: "uniform, product(0.5), equal-bits, or a mixture: 0.5 uniform + 0.5 product(0.2)",
  mean: "of every coordinate",
  share: "of the examples with that mean; the others are uniform",
};
const HINTS = { support: "at random", k: "3", width: "the network's own", sample: "fresh examples" };
let about = null, stream = null, known = null, checking = null, told = 0;
const seen = board(document, async (wish, sent) => {
  try {
    const { news } = await ask(`/api/watch/${about.session}/${wish}`, sent);
    if (news) seen.receive(news, 0); // of runs that have ended
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    at("status").textContent = error.message;
  }
});

function field(name, { defaults, choices }) {
  const made = document.createElement("div");
  made.className = "field";
  const label = document.createElement("label");
  label.textContent = { n: "bits n", k: "degree k", init: "start", noise: "label noise", share: "share of it", every: "every", validation: "on points" }[name] ?? name;
  label.htmlFor = `f-${name}`;
  let input;
  if (choices[name]) {
    input = document.createElement("select");
    fill(input, Object.entries(choices[name]).map(([value, text]) => [value, value]), defaults[name]);
    [...input.options].forEach((option) => { option.title = choices[name][option.value]; });
  } else {
    input = document.createElement("input");
    input.value = defaults[name] ?? "";
    input.placeholder = HINTS[name] ?? "";
    input.title = TITLES[name] ?? "";
    input.spellcheck = false;
  }
  input.id = `f-${name}`;
  input.name = name;
  input.setAttribute("aria-describedby", `wrong-${name}`);
  const wrong = document.createElement("p");
  wrong.className = "wrong";
  wrong.id = `wrong-${name}`;
  wrong.setAttribute("role", "alert");
  made.append(label, input, wrong);
  return made;
}

const settings = () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));

function complain(error) {
  for (const wrong of form.querySelectorAll(".wrong")) wrong.textContent = "";
  for (const input of form.elements) input.removeAttribute?.("aria-invalid");
  if (!error) return;
  const mine = at(`wrong-${error.field || "form"}`) ?? at("wrong-form");
  mine.textContent = error.message;
  form.elements[error.field]?.setAttribute("aria-invalid", "true");
}

async function check() {
  checking?.abort();
  checking = new AbortController();
  try {
    showSnippets(await ask("/api/check", settings(), checking.signal));
    complain(null);
  } catch (error) {
    if (error instanceof Wrong) complain(error);
    else if (error.name !== "AbortError") throw error;
  }
}

function showSnippets({ python, command }) {
  at("python").textContent = python;
  at("command").textContent = command;
}

function choose(name) {
  const preset = known.presets[name];
  for (const [each, value] of Object.entries(known.defaults)) form.elements[each].value = preset.settings[each] ?? value ?? "";
  for (const button of at("presets").children) button.setAttribute("aria-pressed", button.dataset.name === name);
  at("look").textContent = preset.look;
  return check();
}

async function copy(name) {
  await check();
  at("snippets").open = true;
  const text = at(name).textContent;
  try {
    await navigator.clipboard.writeText(text);
    at("status").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(at(name)); // where a page may not write there, a person can
    at("status").textContent = "Marked: copy it with Ctrl-C.";
  }
}

async function start(event) {
  event.preventDefault();
  stream?.close();
  if (about && !seen.ended()) await ask(`/api/watch/${about.session}/stop`, {}).catch(() => {});
  at("start").disabled = true;
  at("status").textContent = "Checking.";
  try {
    about = await ask("/api/watch", settings());
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    complain(error);
    at("status").textContent = error.field ? `${error.field}: see beside the field.` : error.message;
    form.elements[error.field]?.focus();
    return;
  } finally {
    at("start").disabled = false;
  }
  complain(null);
  showSnippets(about);
  seen.begin(about);
  told = 0;
  stream = new EventSource(`/api/watch/${about.session}/events`);
  stream.onmessage = (message) => {
    seen.receive(JSON.parse(message.data), told++);
    if (seen.ended()) stream.close();
  };
  stream.onerror = () => {
    stream.close();
    seen.finish(seen.ended() ? null : "The server ended this training.");
  };
}

export const watch = {
  async begin() {
    known = await ask("/api/choices");
    for (const place of form.querySelectorAll(".fields")) place.append(...place.dataset.fields.split(" ").map((name) => field(name, known)));
    for (const [name, preset] of Object.entries(known.presets)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = preset.title;
      button.dataset.name = name;
      button.addEventListener("click", () => choose(name));
      at("presets").append(button);
    }
    form.addEventListener("submit", start);
    form.addEventListener("change", check);
    at("copy-python").addEventListener("click", () => copy("python"));
    at("copy-command").addEventListener("click", () => copy("command"));
    addEventListener("pagehide", () => stream?.close());
    await choose(Object.keys(known.presets)[0]);
    seen.arrange(known.curves, Number(form.elements.steps.value));
  },
  shown() {
    seen.draw();
  },
};
