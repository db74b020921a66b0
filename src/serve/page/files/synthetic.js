// Synthetic data: a made-up table of many columns, its price and its expected error, its bars and its rows.
import { announce, clear, debounce, download, field, h, icon, select } from "./dom.js";
import { api } from "./api.js";
import { affords, firstPrice, leftOf } from "./budget.js";
import { costText, count, errorText, priceText } from "./format.js";
import { failure } from "./failure.js";
import { isBounded } from "./sql.js";
import { stopButton } from "./stop.js";

const SHOWN = 10; // rows, and tables with their bars
const WORKLOADS = [["marginals:2", "all pairs of columns"], ["marginals:3", "all triples of columns"]];

function hasDomain(column) {
  return isBounded(column) || column.type === "boolean" || (column.domain || []).length > 0;
}

function percent(part, whole) {
  return `${errorText((100 * part) / whole)} %`;
}

function grid(label, head, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", { class: typeof cell === "number" ? "number" : "" }, String(cell))))))));
}

/** The first lines of a CSV file, as lists of texts. */
function firstLines(csv, most) {
  const lines = [];
  let row = [], text = "", quoted = false;
  for (let i = 0; i < csv.length && lines.length < most; i += 1) {
    const letter = csv[i];
    if (quoted && letter === '"' && csv[i + 1] === '"') { text += '"'; i += 1; }
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && (letter === "," || letter === "\n")) {
      row.push(text);
      text = "";
      if (letter === "\n") { lines.push(row); row = []; }
    } else text += letter;
  }
  return lines;
}

/** What was made: its error, the bars of its tables, its first rows, the file. */
function madeCard(answer) {
  const heading = h("h2", { tabindex: "-1" }, `${count(answer.rows)} rows`);
  const tables = (answer.tables || []).filter((one) => typeof one.bar === "number").sort((a, b) => b.bar - a.bar);
  const [head, ...rows] = firstLines(answer.csv, SHOWN + 1);
  return { heading, card: h("section", { class: "card answer", "aria-label": "Synthetic table" }, h("div", { class: "bar" }, heading,
    answer.cached ? h("span", { class: "chip free" }, "read again, free") : h("span", { class: "chip cost" }, `cost ${costText(answer.cost)}`),
    h("button", { class: "slight", type: "button", onclick: () => download("synthetic.csv", "text/csv", answer.csv) }, icon("download"), "CSV"),
    h("button", { class: "slight", type: "button", onclick: () => download("synthetic.json", "application/json", JSON.stringify({ ...answer, csv: undefined }, null, 2)) }, icon("download"), "Report")),
  h("div", { class: "inside" },
    typeof answer.mean_error === "number" ? h("p", {}, `A table of these rows is ${percent(Math.max(answer.mean_error, 0), answer.records)} of the records off on average, ± ${percent(answer.mean_error_off, answer.records)}.`) : null,
    grid("First rows", head, rows),
    tables.length ? h("details", {}, h("summary", {}, `How far tables may be off, the worst first: ${count(tables.length)}, all at once 95 times of 100`),
      grid("Bars of tables", ["table", "at most off"], tables.slice(0, SHOWN).map((one) => [one.columns.join(" × "), percent(one.bar, answer.records)]))) : null)) };
}

class SyntheticView {
  constructor(main, state) {
    this.state = state;
    this.shown = state.shown.filter((one) => !one.public && !one.tables);
    this.typed = { dataset: this.shown[0]?.dataset, workload: "marginals:2", rows: "1000", epsilon: "", delta: "" };
    this.turn = 0;
    this.planSoon = debounce(350, () => this.plan());
    this.fields = h("div", { class: "fields" });
    this.columns = h("fieldset", { class: "choices" });
    this.preview = h("p", { class: "note quiet", role: "status" });
    this.result = h("div", { id: "synthetic" });
    this.stop = stopButton();
    this.make = h("button", { class: "main spends", type: "submit" });
    clear(main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Synthetic data"), h("p", {}, "A made-up table whose tables of two or three columns are nearly those of the true one. It is paid once; anything may be done with it."))),
      this.shown.length ? h("section", { class: "card", "aria-label": "What to make" }, h("form", { class: "inside", onsubmit: (event) => { event.preventDefault(); this.send(); } },
        this.fields, this.columns, this.preview, h("div", { class: "do" }, this.make))) : h("p", { class: "card empty" }, "There is no dataset of one table to make it from."),
      this.result), this.stop.element);
    if (this.shown.length) this.choose(this.typed.dataset);
  }

  choose(dataset) {
    this.typed.dataset = dataset;
    const table = this.shown.find((one) => one.dataset === dataset);
    const budget = this.state.budgets.filter((one) => one.dataset === dataset);
    this.typed.epsilon = firstPrice(Math.min(1, ...budget.map(leftOf)));
    const columns = (table.columns || []).filter((one) => one.name !== table.unit);
    this.chosen = new Set(columns.filter(hasDomain).map((one) => one.name));
    const box = select(this.shown.map((one) => [one.dataset, one.dataset]), dataset, () => { this.choose(box.value); });
    const workload = select(WORKLOADS, this.typed.workload, () => { this.typed.workload = workload.value; this.planSoon(); });
    const input = (key, attributes) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes, value: this.typed[key], oninput: (event) => { this.typed[key] = event.target.value.trim(); this.changed(); } });
    clear(this.fields, field("Made from", box), field("What it keeps", workload), field("Rows", input("rows", { inputmode: "numeric" })),
      field("Price ε", input("epsilon", { inputmode: "decimal" })), field("δ of it", input("delta", { inputmode: "decimal", placeholder: "1e-7" }), "Without it there is more error."));
    clear(this.columns, h("legend", {}, "Columns"), columns.map((one) => h("label", {},
      h("input", { type: "checkbox", disabled: !hasDomain(one), checked: this.chosen.has(one.name), onchange: (event) => { this.chosen[event.target.checked ? "add" : "delete"](one.name); this.changed(); } }),
      ` ${one.name}`, hasDomain(one) ? null : h("span", { class: "soft small" }, " (no domain or bounds)"))));
    this.changed();
  }

  changed() {
    const price = Number(this.typed.epsilon);
    const enough = this.state.budgets.filter((one) => one.dataset === this.typed.dataset).every((one) => affords(one, price));
    clear(this.make, !(price > 0) ? "Make it" : enough ? `Make it, spends ε ${priceText(price)}` : `Not enough left for ε ${priceText(price)}`);
    this.make.disabled = this.busy || !(price > 0) || !enough || this.chosen.size < 2;
    this.planSoon();
  }

  question() {
    const { dataset, workload, rows, epsilon, delta } = this.typed;
    return { source: dataset, columns: [...this.chosen].join(","), workload, method: "tree", rows, epsilon, output: "-", ...(delta ? { delta } : {}) };
  }

  /** What the price would give, for nothing. */
  async plan() {
    this.turn += 1;
    const turn = this.turn;
    if (this.busy) return;
    if (this.chosen.size < 2) { clear(this.preview, "Choose two columns or more."); return; }
    if (!(Number(this.typed.epsilon) > 0)) { clear(this.preview, "Set a price."); return; }
    try {
      const plan = await api.synth({ ...this.question(), dry_run: true });
      if (turn !== this.turn) return;
      const bar = typeof plan.bar === "number" ? ` Each table will come with a bar about ${errorText(plan.bar)} records above its error.` : "";
      clear(this.preview, `Counts of one column are noised by about ${errorText(plan.noise.columns)} records, those of chosen tables by about ${errorText(plan.noise.tables)}.${bar} Nothing is spent yet.`);
    } catch (error) {
      if (turn === this.turn) clear(this.preview, error.message);
    }
  }

  async send() {
    if (this.busy) return;
    this.busy = true;
    this.make.disabled = true;
    announce("Making…");
    try {
      const answer = await this.stop.during((ticket) => api.synth(this.question(), ticket), "Making…");
      const { card, heading } = madeCard(answer);
      clear(this.result, card);
      heading.focus({ preventScroll: true });
      announce("The synthetic table is made");
    } catch (error) {
      clear(this.result, failure(error));
    }
    this.busy = false;
    try {
      this.state.budgets = await api.budgets();
    } catch {
      // The server says itself what is not enough.
    }
    this.changed();
  }
}

export async function syntheticView(main, state) {
  clear(main, h("div", { class: "view", "aria-busy": "true" }, h("h1", {}, "Synthetic data")));
  try {
    await state.loadPolicies();
    state.budgets = await api.budgets();
  } catch (error) {
    clear(main, failure(error));
    return;
  }
  new SyntheticView(main, state);
}
