// The tabs, and how the page asks its server.
import { claims } from "./claims.js";
import { results } from "./results.js";
import { watch } from "./watch.js";

const parts = { watch, results, claims };
const tabs = [...document.querySelectorAll("[role=tab]")];

function show(name, focus) {
  for (const tab of tabs) {
    const mine = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", mine);
    tab.tabIndex = mine ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !mine;
    if (mine && focus) tab.focus();
  }
  history.replaceState(null, "", `#${name}`);
  parts[name].shown();
}

for (const [place, tab] of tabs.entries()) {
  tab.addEventListener("click", () => show(tab.getAttribute("aria-controls")));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) show(tabs[(place + step + tabs.length) % tabs.length].getAttribute("aria-controls"), true);
  });
}
await watch.begin();
const wanted = location.hash.slice(1);
show(wanted in parts ? wanted : "watch");
