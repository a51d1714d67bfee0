// The board in a notebook: an anywidget module. What the kernel says comes as messages of its model.
import { board } from "./board.js";
import { release } from "./charts.js";
import { CSS } from "./page.css";

const HTML = `<div class="pictures">
<div class="controls"><button type="button" id="pause" disabled>Pause</button>
<button type="button" id="stop" disabled>Stop</button><output id="status" role="status"></output></div>
<div class="grid" id="pictures"></div></div>`;

// A notebook may be dark where the system is light: what lies behind the widget decides.
function scheme(element) {
  for (let each = element; each; each = each.parentElement) {
    const [red, green, blue, solid = 1] = getComputedStyle(each).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    if (solid > 0.5) return 0.3 * red + 0.6 * green + 0.1 * blue < 128 ? "dark" : "light";
  }
  return "light dark";
}

function render({ model, el }) {
  const host = document.createElement("div");
  el.append(host);
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${CSS}</style>${HTML}`;
  host.style.colorScheme = scheme(el);
  const seen = board(root, (wish, sent) => model.send({ wish, ...sent }));
  seen.begin(model.get("about"));
  const hear = (message) => { if (message.news) seen.receive(message.news, message.from); };
  model.on("msg:custom", hear);
  const last = model.get("news");
  if (last.phase) seen.receive(last, 0); else model.send({ wish: "all" });
  return () => {
    model.off("msg:custom", hear);
    release(root);
  };
}

export default { render };
