// Numbers as people read them. An error bar has two significant digits, and its value the same decimals.

function decimalsFor(error) {
  if (!(error > 0) || !Number.isFinite(error)) return null;
  return Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(error))));
}

function grouped(value, decimals) {
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    .replace("-", "\u2212");
}

/** An error: two digits that count, 0.24, 80, 1,200. */
export function errorText(error) {
  if (error === null || error === undefined || Number.isNaN(error)) return "unknown";
  if (error === 0) return "0";
  if (error >= 100) {
    const unit = 10 ** (Math.floor(Math.log10(error)) - 1);
    return error >= 1e15 ? error.toExponential(1) : grouped(Math.ceil(error / unit - 1e-9) * unit, 0);
  }
  if (error < 1e-9) return error.toExponential(1);
  return grouped(error, decimalsFor(error));
}

/** A value with as many decimals as its error makes sense of. */
export function valueText(value, error) {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value !== "number") return String(value);
  if (Math.abs(value) >= 1e15) return value.toExponential(4);
  const decimals = decimalsFor(error);
  if (decimals !== null) return grouped(value, Number.isInteger(value) ? 0 : decimals);
  if (Number.isInteger(value)) return grouped(value, 0);
  const digits = Math.max(0, Math.min(12, 4 - Math.ceil(Math.log10(Math.abs(value) || 1))));
  return grouped(value, digits);
}

/** A number that somebody declared, which may come as a text: grouped, with the digits it has. */
export function numberText(value) {
  const digits = /^(-?\d+)(\.\d+)?$/.exec(String(value));
  return digits ? grouped(Number(digits[1]), 0) + (digits[2] || "") : String(value);
}

/** A price: as it was typed, without noise of binary fractions. */
export function priceText(value) {
  if (value === null || value === undefined) return "0";
  const number = Number(value);
  if (number === 0) return "0";
  if (Math.abs(number) < 1e-3) return Number(number.toPrecision(3)).toExponential().replace("e-", "e\u2212");
  return String(Number(number.toPrecision(6)));
}

/** The same with four digits, never more than it is. */
export function roundDown(value) {
  const number = Number(value);
  if (!(number > 0)) return 0;
  const unit = 10 ** (Math.floor(Math.log10(number)) - 3);
  return Number((Math.floor(number / unit + 1e-6) * unit).toPrecision(4));
}

/** What is left, in text. */
export function leftText(value) {
  return priceText(roundDown(value));
}

/** What something costs, in words for all rules. */
export function costText(cost) {
  if (!cost) return "nothing";
  const parts = [];
  if (cost.rho) parts.push(`ρ ${priceText(cost.rho)}`);
  else parts.push(`ε ${priceText(cost.epsilon)}`);
  if (cost.delta) parts.push(`δ ${priceText(cost.delta)}`);
  return parts.join(", ");
}

const WHEN = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function timeText(text) {
  const time = typeof text === "number" ? new Date(text * 1000) : new Date(text);
  return Number.isNaN(time.getTime()) ? String(text) : WHEN.format(time);
}

export function count(number, one, many) {
  return `${grouped(number, 0)} ${number === 1 ? one : many || `${one}s`}`;
}

/** The least of 1, 2, 5, 10, ... that is not below. */
export function niceAbove(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 5, 7.5, 10]) if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}
