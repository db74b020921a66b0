// The policy file that a form describes, as text: the same file that `brume register NAME --policy` takes.

/** A value as YAML: plain where that is safe, else in double quotes. */
export function scalar(text) {
  const plain = /^[A-Za-z0-9_./][A-Za-z0-9_./=+-]*( [A-Za-z0-9_./=+-]+)*$/;
  return plain.test(text) ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

function keyed(indent, key, value) {
  return value === "" || value === undefined ? [] : [`${indent}${key}: ${scalar(value)}`];
}

function listed(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean);
}

function tableLines(table) {
  const lines = [`  ${scalar(table.name || "table")}:`, ...keyed("    ", "source", table.source), ...keyed("    ", "table", table.table)];
  if (table.whose === "public") lines.push("    public: true");
  else if (table.whose === "link") lines.push(`    link: ${scalar(table.link)}`);
  else lines.push(`    unit: ${scalar(table.whose === "row" ? "row" : table.unit)}`);
  if (table.columns) lines.push(`    columns: ${scalar(table.columns)}`);
  const bounds = table.bounds.filter((one) => one.column);
  if (bounds.length) lines.push("    bounds:", ...bounds.map((one) => `      ${scalar(one.column)}: ${scalar(`${one.low}..${one.high}`)}`));
  const domains = table.domains.filter((one) => one.column);
  if (domains.length) lines.push("    domain:", ...domains.map((one) => `      ${scalar(one.column)}: [${listed(one.values).map(scalar).join(", ")}]`));
  if (table.identifier) lines.push(`    identifier: [${listed(table.identifier).map(scalar).join(", ")}]`);
  return lines;
}

export function policyText(form) {
  const budget = `epsilon=${form.epsilon}${form.delta ? `,delta=${form.delta}` : ""}`;
  const open = form.tables.some((table) => table.whose !== "public");
  return [
    ...(open ? [`budget: ${scalar(budget)}`] : []),
    ...keyed("", "rule", form.rule), ...keyed("", "adjacency", form.adjacency),
    ...(form.cap ? [`cap: ${scalar(`epsilon=${form.cap}`)}`] : []),
    ...keyed("", "max-groups", form.groups), ...keyed("", "max-rows", form.rows), ...keyed("", "limits", form.limits),
    ...keyed("", "timeout", form.timeout), ...keyed("", "data-version", form.version),
    "tables:", ...form.tables.flatMap(tableLines), ""].join("\n");
}

/** What is still missing, in the order of the form; empty where it can be sent. */
export function missing(form) {
  const list = [];
  if (!/^[A-Za-z_][\w-]*$/.test(form.name)) list.push("a name for the dataset");
  if (form.tables.some((table) => table.whose !== "public") && !(Number(form.epsilon) > 0)) list.push("a budget: how much ε may be spent in all");
  form.tables.forEach((table, number) => {
    const which = table.name || `table ${number + 1}`;
    if (!table.name) list.push(`a name for table ${number + 1}`);
    if (!table.source) list.push(`the source of ${which}`);
    if (table.whose === "unit" && !table.unit) list.push(`the column of ${which} that says whose a row is`);
    if (table.whose === "link" && !/=/.test(table.link)) list.push(`the link of ${which}, as column = table.column`);
  });
  return list;
}
