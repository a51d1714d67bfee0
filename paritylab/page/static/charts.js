// Curves, bars and maps on a canvas: axes with their names, colours of the page's style sheet, and the same in words.

const dusk = matchMedia("(prefers-color-scheme: dark)");
// The style sheet's colours where a canvas stands. `light-dark(a, b)` is left as it is in properties of one's own.
function inks(canvas) {
  const style = getComputedStyle(canvas);
  const dark = style.colorScheme === "dark" || (style.colorScheme.includes("dark") && dusk.matches);
  return (name) => {
    const text = style.getPropertyValue(name).trim();
    return text.match(/^light-dark\(\s*(.*?)\s*,\s*(.*?)\s*\)$/)?.[dark ? 2 : 1] ?? text;
  };
}
const colour = (place) => `--ink${place % 8}`;
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]];
const shown = (value) => {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(1).replace("e+", "e").replace("e-", "e\u2011"); // a hyphen at which no line breaks
  return size >= 1000 ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
};
export { shown };

// Pictures that have been drawn are drawn again when their size or the colours change.
const drawn = new Map();
const again = () => { for (const draw of drawn.values()) draw(); };
const sizes = new ResizeObserver((all) => all.forEach(({ target }) => drawn.get(target)?.()));
dusk.addEventListener("change", again);

// Forgets the pictures of a part that is taken away.
export function release(root) {
  for (const canvas of [...drawn.keys()]) if (canvas.getRootNode() === root || !canvas.isConnected) { drawn.delete(canvas); sizes.unobserve(canvas); }
}

function picture(canvas, words, draw) {
  canvas.setAttribute("aria-label", words);
  drawn.set(canvas, () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    draw(pen, width, height, inks(canvas));
  });
  sizes.observe(canvas);
  drawn.get(canvas)();
}

// Round numbers between two ends; powers of ten on a logarithmic axis.
function ticks(low, high, count, log) {
  if (log) {
    const found = [];
    const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const step = Math.max(1, Math.ceil((last - first + 1) / count));
    for (let power = first; power <= last; power += step) found.push(10 ** power);
    if (found.length > 1) return found;
  }
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  return found;
}

// Every how many of some names can be written side by side without touching.
function spaced(widths, cell) {
  const touch = (every) => widths.some((width, i) => i % every === 0 && i + every < widths.length && (width + widths[i + every]) / 2 + 5 > every * cell);
  let every = 1;
  while (touch(every)) every++;
  return every;
}

function axes(pen, ink, width, height, { x, y, across, up, logX, logY, names, above = 0 }) {
  const heights = ticks(...y, Math.max(2, height / 45), logY);
  const left = Math.max(40, 24 + Math.max(...heights.map((at) => pen.measureText(shown(at)).width)));
  const box = { left, right: width - 10, top: 12 + above, bottom: height - 34 };
  const place = (value, [low, high], log, from, to) =>
    from + (to - from) * (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  const toX = (value) => place(value, x, logX, box.left, box.right);
  const toY = (value) => place(value, y, logY, box.bottom, box.top);
  pen.strokeStyle = ink("--line");
  pen.fillStyle = ink("--soft");
  pen.lineWidth = 1;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  const every = names ? spaced(names.map((name) => pen.measureText(name).width), (box.right - box.left) / names.length) : 1;
  for (const at of names ? names.keys() : ticks(...x, Math.max(2, width / 90), logX)) {
    if (names && at % every) continue;
    const text = names ? names[at] : shown(at);
    pen.fillText(text, Math.min(toX(at), width - pen.measureText(text).width / 2 - 1), box.bottom + 4);
  }
  pen.fillText(across, (box.left + box.right) / 2, height - 15);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const at of heights) {
    pen.beginPath();
    pen.moveTo(box.left, toY(at));
    pen.lineTo(box.right, toY(at));
    pen.stroke();
    pen.fillText(shown(at), box.left - 5, toY(at));
  }
  pen.save();
  pen.translate(9, (box.top + box.bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "center";
  pen.fillText(up, 0, 0);
  pen.restore();
  return { toX, toY, box };
}

function path(pen, xs, ys, toX, toY, steps) {
  let open = false, last = 0;
  pen.beginPath();
  for (let i = 0; i < xs.length; i++) {
    if (ys[i] === null || ys[i] === undefined) { open = false; continue; }
    const [left, top] = [toX(xs[i]), toY(ys[i])];
    if (open && steps) pen.lineTo(left, last);
    if (open) pen.lineTo(left, top); else pen.moveTo(left, top);
    open = true;
    last = top;
  }
  pen.stroke();
}

// Series with `name`, `x`, `y`, perhaps `low` and `high` of a band and thin `lines` of single runs.
export function curves(canvas, { series, across, up, x, y, logX, logY, steps, dots, words }) {
  const all = (pick) => series.flatMap(pick).filter((value) => value !== null && value !== undefined && isFinite(value));
  const ends = (values, log) => {
    const kept = log ? values.filter((value) => value > 0) : values;
    let [low, high] = kept.length ? [kept.reduce((a, b) => Math.min(a, b)), kept.reduce((a, b) => Math.max(a, b))] : [log ? 1 : 0, 1];
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (low ? Math.abs(low) / 2 : 0), high + (Math.abs(high) / 2 || 1)];
    return [low, high];
  };
  const roomy = ([low, high]) => (logY ? [low, high * 1.2] : [low < 0 ? low * 1.06 : low, high * 1.06]);
  const xs = x ?? ends(all((each) => [...each.x, ...(each.lines ?? []).flatMap((line) => line.x.slice(-1))]), logX);
  const ys = y ?? roomy(ends([...(logY ? [] : [0]), ...all((each) => [...each.y, ...(each.low ?? []), ...(each.high ?? []), ...(each.lines ?? []).flatMap((line) => line.y)])], logY));
  const last = (each) => `${each.name}: ${shown(each.y.findLast?.((value) => value !== null) ?? null)}`;
  picture(canvas, words ?? `${up} over ${across}. At the end, ${series.map(last).join("; ")}`, (pen, width, height, ink) => {
    const rows = series.length > 1 ? legendRows(pen, series.map((each) => each.name), width - 56) : [];
    const { toX, toY, box } = axes(pen, ink, width, height, { x: xs, y: ys, across, up, logX, logY, above: ROW * rows.length });
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top - 2, box.right - box.left + 2, box.bottom - box.top + 4);
    pen.clip();
    const safe = (values) => (logY ? values.map((value) => (value > 0 ? value : null)) : values);
    series.forEach((each, place) => {
      pen.strokeStyle = pen.fillStyle = ink(colour(place));
      if (each.low) {
        pen.globalAlpha = 0.18;
        pen.beginPath();
        const kept = [...each.x.keys()].filter((i) => each.low[i] !== null && each.low[i] !== undefined && (!logY || each.low[i] > 0));
        const top = (i) => toY(each.high[i] === null || each.high[i] === undefined ? ys[1] : each.high[i]);
        kept.forEach((i) => pen.lineTo(toX(each.x[i]), toY(each.low[i])));
        kept.reverse().forEach((i) => pen.lineTo(toX(each.x[i]), top(i)));
        pen.fill();
      }
      pen.globalAlpha = 0.3;
      pen.lineWidth = 0.8;
      for (const line of each.lines ?? []) path(pen, line.x, safe(line.y), toX, toY);
      pen.globalAlpha = 1;
      pen.lineWidth = 2;
      pen.setLineDash(DASHES[place % DASHES.length]);
      path(pen, each.x, safe(each.y), toX, toY, steps);
      pen.setLineDash([]);
      if (dots) each.x.forEach((at, i) => { if (safe(each.y)[i] !== null) { pen.beginPath(); pen.arc(toX(at), toY(each.y[i]), 2.5, 0, 7); pen.fill(); } });
    });
    pen.restore();
    legend(pen, ink, rows, 42);
  });
}

// Names of curves stand above the axes, in as many rows as they take, so that they hide nothing.
const SAMPLE = 24, BETWEEN = 12, ROW = 15;

function legendRows(pen, names, wide) {
  const rows = [[]];
  let left = 0;
  for (const [place, name] of names.entries()) {
    const mine = SAMPLE + 5 + pen.measureText(name).width;
    if (left && left + mine > wide) { rows.push([]); left = 0; }
    rows.at(-1).push({ place, name, left });
    left += mine + BETWEEN;
  }
  return rows;
}

function legend(pen, ink, rows, start) {
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.lineWidth = 2;
  rows.forEach((row, line) => row.forEach(({ place, name, left }) => {
    const top = 8 + ROW * line;
    pen.strokeStyle = ink(colour(place));
    pen.setLineDash(DASHES[place % DASHES.length]);
    pen.beginPath();
    pen.moveTo(start + left, top);
    pen.lineTo(start + left + SAMPLE, top);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = ink("--ink");
    pen.fillText(name, start + left + SAMPLE + 5, top);
  }));
}

function shades(ink) {
  const [low, middle, high] = ["--low", "--middle", "--high"].map((name) => [1, 3, 5].map((at) => parseInt(ink(name).slice(at, at + 2), 16)));
  return (share) => middle.map((value, i) => Math.round(value + ((share < 0 ? low : high)[i] - value) * Math.min(1, Math.abs(share))));
}

// A matrix as colours from the least (brown) over nothing to the largest (blue); triangles below marked columns.
export function heatMap(canvas, { rows, marked = [], across, up, names, sides, most, texts, words }) {
  const largest = most ?? Math.max(1e-12, ...rows.flat().map((value) => Math.abs(value ?? 0)));
  picture(canvas, words, (pen, width, height, ink) => {
    const [down, over] = [rows.length, rows[0].length], mixed = shades(ink);
    const box = { left: 52, right: width - 10, top: 8, bottom: height - (marked.length ? 44 : 34) };
    const [cell, tall] = [(box.right - box.left) / over, (box.bottom - box.top) / down];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    rows.forEach((row, j) => row.forEach((value, i) => {
      const [red, green, blue] = value === null ? [128, 128, 128] : mixed(value / largest);
      pen.fillStyle = `rgb(${red} ${green} ${blue})`;
      pen.globalAlpha = value === null ? 0.25 : 1;
      pen.fillRect(box.left + i * cell, box.top + j * tall, cell + 0.5, tall + 0.5);
      pen.globalAlpha = 1;
      if (texts && cell > 30 && tall > 13) {
        pen.fillStyle = 0.3 * red + 0.6 * green + 0.1 * blue > 140 ? "#111" : "#fff";
        pen.fillText(texts[j][i], box.left + (i + 0.5) * cell, box.top + (j + 0.5) * tall);
      }
    }));
    pen.fillStyle = ink("--ink1");
    for (const i of marked) {
      const at = box.left + (i + 0.5) * cell;
      pen.beginPath();
      pen.moveTo(at, box.bottom + 2);
      pen.lineTo(at - 4, box.bottom + 9);
      pen.lineTo(at + 4, box.bottom + 9);
      pen.fill();
    }
    pen.fillStyle = ink("--soft");
    pen.textBaseline = "top";
    const below = names ?? [...Array(over).keys()].map(String);
    const every = spaced(below.map((name) => pen.measureText(name).width), cell);
    for (let i = 0; i < over; i += every) pen.fillText(below[i], box.left + (i + 0.5) * cell, height - 29);
    pen.fillText(across, (box.left + box.right) / 2, height - 15);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const next = Math.ceil(down / Math.max(1, (box.bottom - box.top) / 14));
    for (let j = 0; j < down; j += next) pen.fillText(sides ? sides[j] : j, box.left - 4, box.top + (j + 0.5) * tall);
    pen.save();
    pen.translate(8, (box.top + box.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(up, 0, 0);
    pen.restore();
  });
}

// A bar for each value; marked ones stand out, by colour and by a triangle.
export function bars(canvas, { values, marked, across, up, names, words }) {
  const most = Math.max(1e-12, ...values.map((value) => Math.abs(value ?? 0)));
  picture(canvas, words, (pen, width, height, ink) => {
    const { toX, toY, box } = axes(pen, ink, width, height, { x: [-0.5, values.length - 0.5], y: [-1.12 * most, 1.12 * most], across, up, names: names ?? [...values.keys()] });
    const wide = Math.max(1, ((box.right - box.left) / values.length) * 0.8);
    values.forEach((value, i) => {
      const mine = marked.includes(i);
      pen.fillStyle = ink(colour(mine ? 1 : 0));
      pen.fillRect(toX(i) - wide / 2, Math.min(toY(0), toY(value ?? 0)), wide, Math.abs(toY(value ?? 0) - toY(0)));
      if (!mine) return;
      pen.beginPath();
      pen.moveTo(toX(i), box.bottom - 7);
      pen.lineTo(toX(i) - 4, box.bottom);
      pen.lineTo(toX(i) + 4, box.bottom);
      pen.fill();
    });
  });
}
