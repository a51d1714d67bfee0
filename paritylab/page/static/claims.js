// Claims: the reports that are served, and what is recorded of every experiment.
import { ask } from "./ask.js";
import { fill, tabulate } from "./elements.js";

const at = (name) => document.getElementById(name);
let reports = [];

function open() {
  const mine = reports.find(({ name }) => name === at("report").value);
  at("ledger").hidden = !mine;
  at("claims-status").textContent = mine ? mine.summary : "There is no report in the folders that are served. 'paritylab reproduce' writes one.";
  if (mine) at("ledger").src = `/report/${mine.name.split("/").map(encodeURIComponent).join("/")}/`;
}

export const claims = {
  async shown() {
    const found = await ask("/api/claims");
    reports = found.reports;
    fill(at("report"), reports.map(({ name }) => [name, name]), at("report").value);
    if (!at("ledger").src) open();
    const columns = Object.keys(found.recorded[0] ?? {});
    tabulate(at("recorded"), columns, found.recorded.map((row) => columns.map((name) => row[name])));
    at("recorded-part").open = !reports.length;
  },
};
at("report").addEventListener("change", open);
