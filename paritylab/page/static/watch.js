// Watch: choose, start, and see what the runs record while they train.
import { Wrong, ask, fill } from "./ask.js";
import { bars, curves, heatMap, shown } from "./charts.js";

const at = (name) => document.getElementById(name);
const form = at("form");
const HINTS = { support: "at random", k: "3", width: "the network's own", sample: "fresh examples" };
let about = null, stream = null, lines = new Map(), gaps = [], latest = null, ended = true, known = null, checking = null;

function field(name, { defaults, choices }) {
  const made = document.createElement("div");
  made.className = "field";
  const label = document.createElement("label");
  label.textContent = { n: "bits n", k: "degree k", init: "start", noise: "label noise", every: "every", validation: "on points" }[name] ?? name;
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
  if (about && !ended) await ask(`/api/watch/${about.session}/stop`, {}).catch(() => {});
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
  lines = new Map();
  gaps = [];
  ended = false;
  fill(at("run"), about.rate_of.map((rate, run) => [run, `${run} (rate ${about.rates[rate]}, seed ${about.seed_of[run]})`]), 0);
  fill(at("neuron"), [...Array(about.neurons).keys()].map((neuron) => [neuron, neuron]), 0);
  stream = new EventSource(`/api/watch/${about.session}/events`);
  stream.onmessage = (message) => receive(JSON.parse(message.data));
  stream.onerror = () => finish(ended ? null : "The server ended this training.");
}

function finish(sentence) {
  stream?.close();
  ended = true;
  at("pause").disabled = at("stop").disabled = true;
  at("pause").textContent = "Pause";
  if (sentence) at("status").textContent = sentence;
}

const PHASES = { compiling: "Compiling", training: "Training", paused: "Paused", ended: "Done", stopped: "Stopped", failed: "Failed" };

function receive(news) {
  latest = news;
  for (const [run, step, ...values] of news.lines) {
    if (!lines.has(run)) lines.set(run, { steps: [], values: [[], [], []] });
    const line = lines.get(run);
    line.steps.push(step);
    values.forEach((value, place) => line.values[place].push(value));
  }
  if (news.gap && news.gap.run === Number(at("run").value) && news.gap.neuron === Number(at("neuron").value)) {
    if (gaps.at(-1)?.step !== news.gap.step) gaps.push(news.gap);
  }
  const medians = news.groups.map((group, place) => `${about.rates.length > 1 ? `rate ${about.rates[place]}: ` : ""}${group.learned} of ${group.runs} learned${group.median === null ? "" : `, median time ${shown(group.median)} steps`}`);
  at("status").textContent = `${PHASES[news.phase]}, ${news.seconds.toFixed(0)} s. ${medians.join("; ")}. ${news.sentence}`;
  at("status").dataset.phase = news.phase;
  at("status").dataset.learned = news.learned;
  at("pause").disabled = at("stop").disabled = false;
  at("pause").textContent = news.phase === "paused" ? "Resume" : "Pause";
  if (["ended", "stopped", "failed"].includes(news.phase)) finish(null);
  if (!at("watch").hidden) requestAnimationFrame(draw);
}

function draw() {
  if (!latest || !about) return;
  const names = about.rates.map((rate) => `rate ${rate}`);
  const reach = Math.max(about.every, ...latest.groups.map((group) => group.reach));
  const series = (name, place) => latest.groups.map((group, i) => {
    const [low, y, high] = group.bands[name];
    const mine = [...lines].filter(([run]) => about.rate_of[run] === i).map(([, line]) => ({ x: line.steps, y: line.values[place] }));
    return { name: names[i], x: group.steps, y, low, high, lines: mine };
  });
  const common = { across: "step", x: [0, reach] };
  const fitted = latest.groups.filter((group) => group.bands.sample_error).map((group, i) => ({ name: `${names[i]}, on its sample`, x: group.steps, y: group.bands.sample_error[1] }));
  curves(at("error"), { ...common, up: "error", y: [0, 0.6], series: [...series("fresh_error", 0), ...fitted] });
  curves(at("loss"), { ...common, up: "loss", series: series("fresh_loss", 1).map((each) => ({ ...each, lines: [] })) });
  curves(at("progress"), { ...common, up: "max |w − w₀|", series: series("progress", 2) });
  const learned = latest.groups.map((group, i) => {
    const [x, y] = group.survival;
    return { name: names[i], x: [...x, reach], y: [...y, y.at(-1)] };
  });
  curves(at("learned"), { ...common, up: "share that learned", y: [0, 1], steps: true, series: learned });
  if (latest.weights) drawInside(reach);
}

function drawInside(reach) {
  const { rows, relevant, step, run } = latest.weights;
  at("weights-words").textContent = `Weights of ${rows.length > 1 ? `${rows.length} neurons` : "the neuron"} of run ${run} at step ${shown(step)}; blue: positive, brown: negative. ${relevant.length ? "Triangles mark relevant coordinates." : ""}`;
  heatMap(at("weights"), { rows, marked: relevant, across: "coordinate", up: "neuron", words: `Weights at step ${step}; relevant coordinates ${relevant.join(", ")}` });
  const last = gaps.at(-1);
  if (!last) {
    at("coefficients-words").textContent = latest.phase === "compiling" ? "" : "Fourier coefficients of the neuron’s exact population gradient: none yet, or no exact route for this network, target or distribution.";
    return;
  }
  at("coefficients-words").textContent = `Fourier coefficients of neuron ${last.neuron}’s exact population gradient at step ${shown(last.step)}, one for each coordinate; orange: relevant. Their gap is ${shown(last.weak)}.`;
  bars(at("coefficients"), { values: last.coefficients, marked: last.relevant, across: "coordinate", up: "coefficient", words: `Coefficients at step ${last.step}; gap ${shown(last.weak)}` });
  curves(at("gap"), { series: [{ name: "gap", x: gaps.map((gap) => gap.step), y: gaps.map((gap) => gap.weak) }], across: "step", up: "Fourier gap", x: [0, reach], dots: true });
}

async function look() {
  gaps = [];
  if (!ended) await ask(`/api/watch/${about.session}/look`, { run: Number(at("run").value), neuron: Number(at("neuron").value) });
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
    at("pause").addEventListener("click", () => ask(`/api/watch/${about.session}/${latest?.phase === "paused" ? "resume" : "pause"}`, {}));
    at("stop").addEventListener("click", () => ask(`/api/watch/${about.session}/stop`, {}));
    at("copy-python").addEventListener("click", () => copy("python"));
    at("copy-command").addEventListener("click", () => copy("command"));
    at("run").addEventListener("change", look);
    at("neuron").addEventListener("change", look);
    addEventListener("pagehide", () => stream?.close());
    await choose(Object.keys(known.presets)[0]);
  },
  shown() {
    draw();
  },
};
