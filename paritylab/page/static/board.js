// The board: pictures of runs that train or have trained, the same on the page and in a notebook. `root` is the document
// or the shadow root that holds the elements `pause`, `stop`, `status` and `pictures`; `tell` takes what a person wants.
import { bars, curves, heatMap, shown } from "./charts.js";
import { fill } from "./elements.js";

const BANDS = "Thin: single runs; thick: the median; shaded: from the 10th to the 90th percentile.";
const CURVES = {
  fresh_error: ["error", "Error on fresh examples."],
  validation_error: ["error", "Error on the validation points."],
  sample_error: ["error", "Error on the run’s own sample."],
  fresh_loss: ["loss", "Loss on fresh examples."],
  progress: ["max |w − w₀|", "Progress measure: the largest movement of a first-layer weight."],
  parity_coefficient: ["E[f(x) χ(x)]", "Fourier coefficient of the network’s output f at the parity χ that it is to learn."],
};
const UNITS = new Set(["error", "share"]);
const PHASES = { compiling: "Compiling", training: "Training", paused: "Paused", ended: "Done", stopped: "Stopped", failed: "Failed" };
const OVER = ["ended", "stopped", "failed"];

export function board(root, tell) {
  const at = (name) => root.getElementById(name);
  let about = null, latest = null, lines = new Map(), gaps = [], ended = true;

  function picture(name, words, large) {
    const figure = document.createElement("figure"), canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
    figure.className = large ? "large" : "";
    canvas.id = name;
    canvas.setAttribute("role", "img");
    caption.id = `${name}-words`;
    caption.textContent = words;
    figure.append(canvas, caption);
    at("pictures").append(figure);
    return figure;
  }

  // A sample's error is drawn beside that on fresh examples, where both are there.
  const beside = () => about.curves.includes("fresh_error") && about.curves.includes("sample_error");

  function arrange() {
    at("pictures").replaceChildren();
    const plain = about.curves.filter((name) => name !== "sample_error" || !beside());
    const caption = (name) => `${CURVES[name]?.[1] ?? `What was recorded as ${name}.`}`;
    const [first, ...rest] = plain;
    if (first) picture(first, `${caption(first)} ${BANDS}`, true);
    picture("learned", "Share of runs that learned by each step (Kaplan-Meier).", !first);
    for (const name of rest) picture(name, caption(name));
    picture("fourier", "");
    const choose = document.createElement("div");
    choose.className = "choose";
    choose.id = "choose";
    choose.innerHTML = 'Inside <label>run <select id="run"></select></label> <label>neuron <select id="neuron"></select></label>';
    at("pictures").append(choose);
    picture("weights", "");
    picture("coefficients", "");
    picture("gap", "Fourier gap of that neuron: the largest relevant coefficient less the largest other one.");
    for (const name of ["fourier", "weights", "coefficients", "gap"]) at(name).closest("figure").hidden = true;
    choose.hidden = true;
    at("neuron").parentElement.hidden = !about.neurons;
    fill(at("run"), about.names.map((name, run) => [run, name ? `${run} (${name})` : run]), 0);
    fill(at("neuron"), [...Array(about.neurons).keys()].map((neuron) => [neuron, neuron]), 0);
    for (const name of ["run", "neuron"]) at(name).addEventListener("change", () => {
      gaps = [];
      tell("look", { run: Number(at("run").value), neuron: Number(at("neuron").value) });
    });
  }

  function draw() {
    if (!latest || !about) return;
    const { groups } = latest, names = about.groups.map((name) => name || "all runs");
    const reach = Math.max(about.every, ...groups.map((group) => group.reach));
    const across = { across: "step", x: [0, reach] };
    const few = (line) => line.steps.length > 0;
    about.curves.forEach((name, place) => {
      if (!at(name)) return;
      const [up] = CURVES[name] ?? [name.replaceAll("_", " ")];
      const single = name.endsWith("_loss") ? [] : [...lines];
      const series = groups.map((group, i) => {
        const [low, y, high] = group.bands[name];
        const mine = single.filter(([run]) => about.group_of[run] === i).map(([, line]) => line).filter(few);
        return { name: names[i], x: group.steps, y, low, high, lines: mine.map((line) => ({ x: line.steps, y: line.values[place] })) };
      });
      const fitted = name === "fresh_error" && beside() ? groups.map((group, i) => ({ name: `${names[i]}, on its sample`, x: group.steps, y: group.bands.sample_error[1] })) : [];
      curves(at(name), { ...across, up, ...(UNITS.has(up) ? { y: [0, 0.6] } : {}), series: [...series, ...fitted] });
    });
    const learned = groups.map((group, i) => {
      const [x, y] = group.survival;
      return { name: names[i], x: [...x, reach], y: [...y, y.at(-1)] };
    });
    curves(at("learned"), { ...across, up: "share that learned", y: [0, 1], steps: true, series: learned });
    at("choose").hidden = !latest.weights && !latest.fourier;
    if (latest.weights) drawWeights(latest.weights);
    if (latest.fourier) drawFourier(latest.fourier);
    if (gaps.length) drawGap(gaps.at(-1), reach);
    at("coefficients").closest("figure").hidden = at("gap").closest("figure").hidden = !gaps.length;
  }

  function drawWeights({ rows, relevant, step, run }) {
    at("weights").closest("figure").hidden = false;
    at("weights-words").textContent = `Weights of ${rows.length > 1 ? `${rows.length} neurons` : "the neuron"} of run ${run} at step ${shown(step)}; blue: positive, brown: negative. ${relevant.length ? "Triangles mark relevant coordinates." : ""}`;
    heatMap(at("weights"), { rows, marked: relevant, across: "coordinate", up: "neuron", words: `Weights at step ${step}; relevant coordinates ${relevant.join(", ")}` });
  }

  function drawFourier({ subsets, values, run, step }) {
    at("fourier").closest("figure").hidden = false;
    const whole = subsets.reduce((best, subset, i) => (subset.length > subsets[best].length ? i : best), 0);
    const names = subsets.map((subset, i) => (i === whole && subset.length > 4 ? "all" : subset.join(",")));
    at("fourier-words").textContent = `Fourier coefficients of the output of run ${run}’s network at step ${shown(step)}, on subsets of the relevant coordinates; orange: the parity of all of them.`;
    bars(at("fourier"), { values, marked: [whole], across: "subset of the relevant coordinates", up: "coefficient", names, words: `Coefficients at step ${step}: ${names.map((name, i) => `{${name}} ${shown(values[i])}`).join(", ")}` });
  }

  function drawGap(last, reach) {
    at("coefficients-words").textContent = `Fourier coefficients of neuron ${last.neuron}’s exact population gradient at step ${shown(last.step)}, one for each coordinate; orange: relevant. Their gap is ${shown(last.weak)}.`;
    bars(at("coefficients"), { values: last.coefficients, marked: last.relevant, across: "coordinate", up: "coefficient", words: `Coefficients at step ${last.step}; gap ${shown(last.weak)}` });
    curves(at("gap"), { series: [{ name: "gap", x: gaps.map((gap) => gap.step), y: gaps.map((gap) => gap.weak) }], across: "step", up: "Fourier gap", x: [0, reach], dots: true });
  }

  function finish(sentence) {
    ended = true;
    at("pause").disabled = at("stop").disabled = true;
    at("pause").textContent = "Pause";
    if (sentence) at("status").textContent = sentence;
  }

  at("pause").addEventListener("click", () => tell(latest?.phase === "paused" ? "resume" : "pause", {}));
  at("stop").addEventListener("click", () => tell("stop", {}));

  return {
    draw,
    // Empty pictures of these curves, before anything trains.
    arrange(names, steps) {
      about = { curves: names, names: [], neurons: 0 };
      arrange();
      const empty = { across: "step", x: [0, steps], y: [0, 1], series: [] };
      for (const name of names) curves(at(name), { ...empty, up: CURVES[name][0], y: [0, UNITS.has(CURVES[name][0]) ? 0.6 : 1], words: "Nothing yet." });
      curves(at("learned"), { ...empty, up: "share that learned", words: "Nothing yet." });
    },
    finish,
    ended: () => ended,
    begin(told) {
      about = told;
      latest = null;
      lines = new Map();
      gaps = [];
      ended = false;
      arrange();
    },
    // A document, with the points of lines from that place on; from the first on they are all there.
    receive(news, from) {
      latest = news;
      if (from === 0) lines = new Map();
      for (const [run, step, ...values] of news.lines) {
        if (!lines.has(run)) lines.set(run, { steps: [], values: about.curves.map(() => []) });
        const line = lines.get(run);
        line.steps.push(step);
        values.forEach((value, place) => line.values[place].push(value));
      }
      const { gap } = news;
      if (gap && gap.run === Number(at("run").value) && gap.neuron === Number(at("neuron").value) && gaps.at(-1)?.step !== gap.step) gaps.push(gap);
      const several = about.groups.length > 1;
      const medians = news.groups.map((group, place) => `${several ? `${about.groups[place]}: ` : ""}${group.learned} of ${group.runs} learned${group.median === null ? "" : `, median time ${shown(group.median)} steps`}`);
      const since = news.seconds ? `, ${news.seconds.toFixed(0)} s` : "";
      at("status").textContent = `${PHASES[news.phase]}${since}. ${medians.join("; ")}. ${news.sentence}`;
      at("status").dataset.phase = news.phase;
      at("status").dataset.learned = news.learned;
      at("pause").disabled = at("stop").disabled = false;
      at("pause").textContent = news.phase === "paused" ? "Resume" : "Pause";
      if (OVER.includes(news.phase)) finish(null);
      if (at("pictures").checkVisibility?.() ?? true) requestAnimationFrame(draw);
    },
  };
}
