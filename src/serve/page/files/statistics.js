// Statistics that are not SQL, and synthetic data: each is one release with one price.
import { announce, clear, field, h, icon, select } from "./dom.js";
import { api } from "./api.js";
import { costText, errorText, leftText, priceText, valueText } from "./format.js";
import { failure } from "./failure.js";
import { stopButton } from "./stop.js";

// What each takes in addition to the price: column, columns, q, k, target, delta.
const KINDS = {
  median: ["column"], quantile: ["column", "q"], iqr: ["column"], mean: ["column"], variance: ["column"], sum: ["column"], count: [],
  mode: ["column", "delta"], histogram: ["column", "delta"], "top-k": ["column", "k", "delta"], covariance: ["columns"], regression: ["columns", "target"],
};
const METHODS = ["mwem", "laplace", "gaussian", "histogram", "pmw", "small-db"];

function text(value) {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : valueText(value);
}

/** What was released: a number with its bar, or a table. */
function released(answer) {
  const left = answer.remaining ? h("span", { class: "soft small" }, `left: ${typeof answer.remaining.rho === "number" ? `ρ ${leftText(answer.remaining.rho)}` : `ε ${leftText(answer.remaining.epsilon)}`}`) : null;
  const chip = answer.cached ? h("span", { class: "chip free" }, "read again, free") : h("span", { class: "chip cost" }, `cost ${costText(answer.cost)}`);
  const heading = h("h2", { tabindex: "-1" }, `Released: ${answer.statistic}`);
  const body = answer.released === false ? h("p", { class: "note" }, "The test of the method did not pass: nothing is shown, and the price is spent.")
    : answer.rows ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Released values" }, h("table", {}, h("tbody", {}, answer.rows.map((row) => h("tr", {}, row.map((value) => h("td", { class: typeof value === "number" ? "number" : "" }, text(value))))))))
      : h("div", { class: "one" }, h("div", {}, h("code", { class: "soft" }, answer.statistic), h("b", {}, text(answer.value)),
        typeof answer.error_95 === "number" ? h("span", { class: "soft number" }, `± ${errorText(answer.error_95)}`) : null));
  return { heading, card: h("section", { class: "card answer", "aria-label": "Release" }, h("div", { class: "bar" }, heading, chip, left), h("div", { class: "inside" }, body, h("p", { class: "soft small" }, `by the method ${answer.method}, ${answer.adjacency}${answer.rows_per_unit ? "; of each person one row counts, chosen at random" : ""}`))) };
}

class StatisticsView {
  constructor(main, state) {
    this.state = state;
    this.names = state.shown.filter((one) => !one.public).map((one) => one.dataset);
    this.typed = { dataset: this.names[0], kind: "median", column: "", columns: "", q: "0.9", k: "5", target: "", delta: "", epsilon: "0.5" };
    this.made = { dataset: this.names[0], columns: "", workload: "marginals:2", method: "mwem", rows: "1000", output: "synthetic.csv", epsilon: "0.5" };
    this.fields = h("div", { class: "fields" });
    this.result = h("div", { id: "released" });
    this.synthetic = h("div", { id: "synthetic" });
    this.stop = stopButton();
    this.send = h("button", { class: "main", type: "submit" });
    clear(main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Statistics"), h("p", {}, "What SQL has no word for: one number or a small table, each at a price of its own. The same at the same price is read again for free."))),
      this.names.length ? h("section", { class: "card", "aria-label": "Statistic" }, h("form", { class: "inside", onsubmit: (event) => { event.preventDefault(); this.release(); } },
        this.fields, h("div", { class: "do" }, this.send, this.stop.button))) : h("p", { class: "card empty" }, "There is no dataset to ask."),
      this.result, state.me.role === "owner" && this.names.length ? this.synthCard() : null));
    this.draw();
  }

  input(object, key, attributes = {}) {
    return h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes, value: object[key], oninput: (event) => { object[key] = event.target.value.trim(); this.drawButtons(); } });
  }

  columnsOf(name) {
    const one = this.state.shown.find((other) => other.dataset === name) || {};
    return (one.tables || [one]).flatMap((table) => table.columns || []).map((column) => column.name);
  }

  draw() {
    const typed = this.typed;
    const kind = select(Object.keys(KINDS).map((word) => [word, word]), typed.kind, () => { typed.kind = kind.value; this.draw(); kind.focus(); });
    const dataset = select(this.names.map((name) => [name, name]), typed.dataset, () => { typed.dataset = dataset.value; this.draw(); });
    const parts = {
      column: () => {
        const names = this.columnsOf(typed.dataset);
        if (!names.includes(typed.column)) typed.column = names[0] || "";
        const box = select(names.map((name) => [name, name]), typed.column, () => { typed.column = box.value; });
        return field("Column of it", box);
      },
      columns: () => field("Columns, with commas", this.input(typed, "columns")),
      q: () => field("Which quantile", this.input(typed, "q", { inputmode: "decimal" }), "From 0 to 1."),
      k: () => field("How many keys", this.input(typed, "k", { inputmode: "numeric" })),
      target: () => field("Column that is predicted", this.input(typed, "target")),
      delta: () => field("δ of it", this.input(typed, "delta", { inputmode: "decimal", placeholder: "1e-6" }), "For keys that are private; none where the column has a domain."),
    };
    clear(this.fields, field("Statistic", kind), field("Of which dataset", dataset), KINDS[typed.kind].map((part) => parts[part]()), field("Price ε", this.input(typed, "epsilon", { inputmode: "decimal" })));
    this.drawButtons();
  }

  drawButtons() {
    if (!this.busy) clear(this.send, Number(this.typed.epsilon) > 0 ? `Release, spends ε ${priceText(Number(this.typed.epsilon))}` : "Release");
    if (this.make && !this.busy) clear(this.make, Number(this.made.epsilon) > 0 ? `Make it, spends ε ${priceText(Number(this.made.epsilon))}` : "Make it");
  }

  /** Run one call that spends, with its button taken and the stop button shown. */
  async run(stop, call, place, show) {
    if (this.busy) return;
    this.busy = true;
    this.send.disabled = true;
    if (this.make) this.make.disabled = true;
    try {
      show(await stop.during(call));
    } catch (error) {
      clear(place, failure(error));
    }
    this.busy = false;
    this.send.disabled = false;
    if (this.make) this.make.disabled = false;
    this.drawButtons();
  }

  release() {
    const { dataset, kind, epsilon } = this.typed;
    const question = { statistic: kind, source: dataset, epsilon };
    for (const part of KINDS[kind]) if (this.typed[part]) question[part] = this.typed[part];
    announce("Asking…");
    return this.run(this.stop, (ticket) => api.release(question, ticket), this.result, (answer) => {
      const { card, heading } = released(answer);
      clear(this.result, card);
      heading.focus({ preventScroll: true });
      announce(`Released, ${answer.cached ? "free" : `cost ${costText(answer.cost)}`}`);
    });
  }

  synthCard() {
    const made = this.made;
    const dataset = select(this.names.map((name) => [name, name]), made.dataset, () => { made.dataset = dataset.value; });
    const method = select(METHODS.map((word) => [word, word]), made.method, () => { made.method = method.value; });
    this.stopMaking = stopButton();
    this.make = h("button", { class: "main", type: "submit" });
    return h("section", { class: "card", "aria-labelledby": "synth-title" }, h("div", { class: "bar" }, h("h2", { id: "synth-title" }, "Synthetic data")),
      h("form", { class: "inside", onsubmit: (event) => { event.preventDefault(); this.synthesize(); } },
        h("p", { class: "soft" }, "A made-up table that answers many questions nearly as the true one does. It is written to a file in the server's folder, and anything may be done with it."),
        h("div", { class: "fields" }, field("Made from", dataset), field("Columns of the table", this.input(made, "columns", { placeholder: "ward,age" }), "Each needs a domain or bounds."),
          field("What it answers well", this.input(made, "workload"), "marginals:2: all pairs of columns."), field("Method", method),
          field("Rows", this.input(made, "rows", { inputmode: "numeric" })), field("File on the server", this.input(made, "output"), ".csv or .parquet"),
          field("Price of it, ε", this.input(made, "epsilon", { inputmode: "decimal" }))),
        h("div", { class: "do" }, this.make, this.stopMaking.button), this.synthetic));
  }

  synthesize() {
    const { dataset, columns, workload, method, rows, output, epsilon } = this.made;
    announce("Making…");
    return this.run(this.stopMaking, (ticket) => api.synth({ source: dataset, columns, workload, method, rows, output, epsilon }, ticket), this.synthetic, (answer) => {
      clear(this.synthetic, h("div", { class: "note free", tabindex: "-1" }, h("p", {}, icon("flask"), h("strong", {}, ` ${answer.output} is written: ${answer.rows} rows`)),
        h("p", {}, `cost ${costText(answer.cost)}${typeof answer.bound === "number" ? `; each of its ${answer.queries} answers is within ${errorText(answer.bound)} records, 95 times of 100` : ""}.`)));
      announce("The synthetic table is written");
    });
  }
}

export async function statisticsView(main, state) {
  clear(main, h("div", { class: "view", "aria-busy": "true" }, h("h1", {}, "Statistics")));
  try {
    await state.loadPolicies();
  } catch (error) {
    clear(main, failure(error));
    return;
  }
  new StatisticsView(main, state);
}
