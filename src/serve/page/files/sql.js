// SQL as far as an editor needs it: words in colours, and what may be completed. The server parses for itself.
import { count, numberText } from "./format.js";

const KEYWORDS = new Set(`all and any array as asc between by case cast cross cube current date day desc distinct else end except
  exists extract false filter first following from full group grouping having hour in inner interval is join last left like limit
  minute month natural not null nulls offset on or order outer over partition preceding quarter right rollup row rows second select
  sets then timestamp true unbounded union using values week when where with within year`.split(/\s+/));

/** Functions with what they do, as the completion shows it. */
export const FUNCTIONS = {
  COUNT: "rows, or distinct values", SUM: "total; needs bounds", AVG: "mean; needs bounds", MEDIAN: "the middle value", MIN: "quantile 0.01",
  MAX: "quantile 0.99", VARIANCE: "of a sample", VAR_POP: "of all", VAR_SAMP: "of a sample", STDDEV: "of a sample", STDDEV_POP: "of all",
  STDDEV_SAMP: "of a sample", PERCENTILE_CONT: "WITHIN GROUP (ORDER BY x)", PERCENTILE_DISC: "WITHIN GROUP (ORDER BY x)",
  MODE: "WITHIN GROUP (ORDER BY x)", CLAMP: "between two bounds", COALESCE: "the first that is not NULL", NULLIF: "NULL where equal",
  GREATEST: "the largest", LEAST: "the smallest", ABS: "without sign", ROUND: "to digits", FLOOR: "down", CEIL: "up", SQRT: "root",
  LN: "logarithm", EXP: "exponential", EXTRACT: "(month FROM day)", DATE_TRUNC: "('month', day)", WIDTH_BUCKET: "(x, lo, hi, n)",
  LOWER: "small letters", UPPER: "capitals", LENGTH: "characters", SUBSTRING: "part of a text", TRIM: "without spaces",
  ROW_NUMBER: "OVER (...)", RANK: "OVER (...)", DENSE_RANK: "OVER (...)",
};

const PHRASES = ["SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "ON", "USING", "AS", "AND", "OR",
  "NOT", "BETWEEN", "IN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "IS NULL", "DISTINCT", "WITH", "FILTER", "OVER", "EXISTS",
  "UNION ALL", "DESC", "GROUP BY ALL"];

const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$))|(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z_][\w$]*)|(\s+)|([\s\S])/gy;

/** The tokens of a text: {kind, text, at}. They are the whole text, in order. */
export function tokens(text) {
  const found = [];
  for (const match of text.matchAll(TOKEN)) {
    const [, comment, string, quoted, digits, word, space] = match;
    let kind = "sign";
    if (comment) kind = "comment";
    else if (string) kind = "string";
    else if (quoted) kind = "quoted";
    else if (digits) kind = "digits";
    else if (space) kind = "space";
    else if (word) {
      if (KEYWORDS.has(word.toLowerCase())) kind = "keyword";
      else if (word.toUpperCase() in FUNCTIONS && text[match.index + word.length] === "(") kind = "function";
      else kind = "word";
    }
    found.push({ kind, text: match[0], at: match.index });
  }
  return found;
}

/** The tables of all datasets: {dataset, table, columns}. */
export function tablesOf(shown) {
  return shown.flatMap((one) => (one.tables
    ? one.tables.map((table) => ({ dataset: one.dataset, table: table.name, columns: table.columns, public: table.public }))
    : [{ dataset: one.dataset, table: one.dataset, columns: one.columns || [], public: one.public }]));
}

/** Does it have bounds, and numbers to add up? Dates have bounds too. */
export function isBounded(column) {
  return column.low !== null && column.low !== undefined && !/^(date|time)/.test(column.type);
}

/** A table as FROM names it. */
export function fromOf({ dataset, table }) {
  return dataset === table ? spelled(table) : `${spelled(dataset)}.${spelled(table)}`;
}

/** The datasets that a query names, by its words: dataset.table, or a table after FROM, JOIN or a comma. */
export function datasetsIn(text, shown) {
  const tables = tablesOf(shown);
  const words = tokens(text).filter((token) => token.kind !== "space" && token.kind !== "comment")
    .map((token) => ({ kind: token.kind, text: token.text.replaceAll('"', "").toLowerCase() }));
  const found = new Set();
  words.forEach(({ kind, text: word }, at) => {
    if (kind !== "word" && kind !== "quoted") return;
    const [before, after] = [words[at - 1]?.text, words[at + 1]?.text];
    if (after === ".") {
      for (const one of tables) if (one.dataset.toLowerCase() === word) found.add(one.dataset);
    } else if (before === "from" || before === "join" || before === ",") {
      const named = tables.filter((one) => one.table.toLowerCase() === word);
      const whole = named.filter((one) => one.dataset === one.table);
      for (const one of whole.length ? whole : named) found.add(one.dataset);
    }
  });
  return [...found];
}

/** The name of the function whose value a column is, "AVG(x) AS name" or the name of the function itself; "": another. */
export function functionOf(text, name) {
  const list = tokens(text).filter((token) => token.kind !== "space" && token.kind !== "comment");
  const plain = (token) => (token ? token.text.replaceAll('"', "").toLowerCase() : "");
  for (const [at, token] of list.entries()) {
    if (token.kind !== "function") continue;
    let depth = 0, end = at + 1;
    do {
      depth += { "(": 1, ")": -1 }[plain(list[end])] || 0;
      end += 1;
    } while (depth > 0 && end < list.length);
    const word = plain(list[end]) === "as" ? plain(list[end + 1]) : plain(list[end]);
    if (word === name.toLowerCase() || (name === plain(token) && [",", "from"].includes(word))) return plain(token);
  }
  return "";
}

export function spelled(name) {
  return /^[a-z_][a-z0-9_$]*$/.test(name) && !KEYWORDS.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** What is declared of a column, in short. */
export function describe(column) {
  if (column.domain) return `${column.type}, ${count(column.domain.length, "value")}`;
  if (column.low !== null && column.low !== undefined) return `${numberText(column.low)} to ${numberText(column.high)}`;
  return column.type;
}

/** What may stand at `at`: {from, list: [{text, note, back}]}; `back` steps the caret back, into parentheses. */
export function completions(text, at, shown) {
  const word = /[A-Za-z_][\w$]*$/.exec(text.slice(0, at));
  const typed = word ? word[0] : "";
  const from = at - typed.length;
  const inside = tokens(text).find((token) => token.at < at && token.at + token.text.length >= at);
  if (inside && (inside.kind === "string" || inside.kind === "comment")) return { from, list: [] };
  const tables = tablesOf(shown);
  const owner = /([A-Za-z_][\w$]*)\.$/.exec(text.slice(0, from));
  const list = [];
  const offer = (name, note, back = 0, weight = 0) => {
    if (!name.toLowerCase().startsWith(typed.toLowerCase()) && !name.toLowerCase().startsWith(`"${typed.toLowerCase()}`)) return;
    if (name.toLowerCase() === typed.toLowerCase() || list.some((one) => one.text === name)) return;
    list.push({ text: name, note, back, weight });
  };
  if (owner) {
    const name = owner[1].toLowerCase();
    for (const one of tables) {
      if (one.dataset.toLowerCase() === name && one.table !== one.dataset) offer(spelled(one.table), "table");
      if (one.table.toLowerCase() === name) for (const column of one.columns) offer(spelled(column.name), describe(column));
    }
    return { from, list: list.slice(0, 40) };
  }
  if (!typed) return { from, list: [] };
  const before = tokens(text.slice(0, from)).filter((token) => token.kind !== "space" && token.kind !== "comment");
  const last = before.length ? before[before.length - 1].text.toLowerCase() : "";
  const wantsTable = last === "from" || last === "join";
  const named = datasetsIn(text, shown);
  if (!wantsTable)
    for (const one of tables)
      if (!named.length || named.includes(one.dataset)) for (const column of one.columns) offer(spelled(column.name), describe(column), 0, 1);
  for (const one of tables)
    offer(spelled(one.table), one.table === one.dataset ? "dataset" : `table of ${one.dataset}`, 0, wantsTable ? 0 : 2);
  if (!wantsTable) {
    for (const [name, note] of Object.entries(FUNCTIONS)) offer(name === "COUNT" ? "COUNT(*)" : `${name}()`, note, name === "COUNT" ? 0 : 1, 3);
    for (const phrase of PHRASES) offer(phrase, "", 0, 4);
  }
  return { from, list: list.sort((a, b) => a.weight - b.weight).slice(0, 40) };
}
