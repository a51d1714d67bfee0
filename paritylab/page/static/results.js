// Results: a store from afar. The server adds up; what is chosen last counts, and an older question is given up.
import { Wrong, ask } from "./ask.js";
import { curves, heatMap, shown } from "./charts.js";
import { fill, tabulate } from "./elements.js";

const at = (name) => document.getElementById(name);
const SECONDS = 4; // between two looks at a store that may be growing
let where = {}, asking = null, before = "", timer = null;

async function look(fresh) {
  const store = at("store").value;
  if (!store) return;
  asking?.abort();
  asking = new AbortController();
  const axis = (name) => (at(name).value in where ? "" : at(name).value); // along a column of one value there is nothing to see
  const sent = { store, where, ...(fresh ? {} : { by: axis("by"), x: axis("x"), y: axis("y") }) };
  try {
    const found = await ask("/api/results", sent, asking.signal);
    if (JSON.stringify(found) !== before) draw(found);
    before = JSON.stringify(found);
  } catch (error) {
    if (error instanceof Wrong) at("store-status").textContent = error.message;
    else if (error.name !== "AbortError") throw error;
  }
}

function draw(found) {
  const several = Object.entries(found.axes).filter(([, values]) => values.length > 1).map(([name]) => [name, name]);
  for (const name of ["by", "x", "y"]) fill(at(name), several, found[name]);
  drawFilters(found.axes);
  const outcomes = Object.entries(found.outcomes ?? {}).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
  at("store-status").textContent = `${found.matching.toLocaleString("en")} of ${found.rows.toLocaleString("en")} runs${outcomes.length ? `: ${outcomes.join(", ")}` : ""}.`;
  at("store-status").dataset.matching = found.matching;
  tabulate(at("rows"), found.columns, found.sample);
  for (const name of ["survival", "times", "map"]) at(name).closest("figure").hidden = !found.trained || !found[name];
  if (!found.trained) return;
  const reach = Math.max(1, ...found.survival.map((each) => each.survival[0].at(-1)));
  const named = (each) => (found.by ? `${found.by} ${each.name}` : `${each.name}`);
  const series = found.survival.map((each) => ({ name: named(each), x: [...each.survival[0], reach], y: [...each.survival[1], each.survival[1].at(-1)] }));
  curves(at("survival"), { series, across: "step", up: "share that learned", x: [0, reach], y: [0, 1], steps: true });
  const values = found.axes[found.by]?.length ?? 1;
  at("survival-words").textContent = `Share of runs that learned by each step (Kaplan-Meier)${values > found.survival.length ? `; ${found.survival.length} of ${values} values of ${found.by}` : ""}.`;
  if (found.times) drawTimes(found, named);
  if (found.map) drawMap(found);
}

function drawTimes(found, named) {
  const numeric = found.times.every((each) => each.x.every((value) => typeof value === "number"));
  const values = found.axes[found.x];
  const place = (value) => (numeric ? value : values.indexOf(value));
  const all = found.times.flatMap((each) => each.x.map(place));
  const log = numeric && all.every((value) => value > 0) && Math.max(...all) >= 20 * Math.min(...all);
  const series = found.times.map((each) => {
    const [low, y, high] = [0, 1, 2].map((q) => each.quantiles.map((row) => row[q]));
    return { name: found.by === found.x ? "all" : named(each), x: each.x.map(place), y, low, high };
  });
  curves(at("times"), { series, across: numeric ? found.x : `${found.x} (${values.join(", ")})`, up: "steps to learn", logX: log, logY: true, dots: true });
}

function drawMap({ map, x, y }) {
  const texts = map.share.map((row) => row.map((share) => (share === null ? "" : `${Math.round(100 * share)}%`)));
  at("map-words").textContent = `Share of runs that learned, over ${x} and ${y}; blue: all of them, grey: no runs.`;
  heatMap(at("map"), { rows: map.share, across: x, up: y, names: map.x.map(String), sides: map.y.map(String), most: 1, texts, words: `Share that learned: ${texts.flat().slice(0, 40).join(" ")}` });
}

function drawFilters(axes) {
  const focused = document.activeElement?.id;
  at("where").replaceChildren(...Object.entries(axes).filter(([, values]) => values.length > 1).map(([name, values]) => {
    const label = document.createElement("label"), select = document.createElement("select");
    fill(select, [["", "all"], ...values.map((value, i) => [i, shownValue(value)])], name in where ? values.indexOf(where[name]) : "");
    select.id = `where-${name}`;
    select.addEventListener("change", () => {
      if (select.value === "") delete where[name]; else where[name] = values[select.value];
      look();
    });
    label.append(`${name} `, select);
    return label;
  }));
  if (focused?.startsWith("where-")) at(focused)?.focus();
}

const shownValue = (value) => (typeof value === "number" ? shown(value) : String(value));

export const results = {
  async shown() {
    const { stores } = await ask("/api/stores");
    const chosen = at("store").value;
    fill(at("store"), stores.map((name) => [name, name]), chosen);
    if (!stores.length) at("store-status").textContent = "There is no store in the folders that are served. 'paritylab sweep' makes one.";
    else if (at("store").value !== chosen || !before) await look(true);
    clearInterval(timer);
    timer = setInterval(() => { if (!at("results").hidden && !document.hidden) look(); }, 1000 * SECONDS);
  },
};
at("store").addEventListener("change", () => { where = {}; look(true); });
for (const name of ["by", "x", "y"]) at(name).addEventListener("change", () => look());
