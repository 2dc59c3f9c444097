// Copied from faultspec; do not edit
/**
 * HTTP-date (RFC 9110 section 5.6.7), read strictly as a sender must write it or
 * leniently as a recipient may take it.
 *
 * Strict: IMF-fixdate alone (`Sun, 06 Nov 1994 08:49:37 GMT`), in that letter
 * case, of a day that exists and falls on that weekday. `:60` is a second only at
 * 23:59, where leap seconds are.
 *
 * Lenient: also the two obsolete forms (`Sunday, 06-Nov-94 08:49:37 GMT`,
 * `Sun Nov  6 08:49:37 1994`), any letter case, a day of one digit, `UTC` for
 * `GMT`, and the wrong weekday. A year of two digits is the one that is not more
 * than 50 years ahead of now, as the RFC says. Other zones stay unreadable: no
 * form of HTTP-date has one.
 */

const WEEKDAYS = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
];
const MONTHS = [
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
];
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY = 86_400; // seconds
const YEAR = 365.2425 * DAY; // the Gregorian mean

const TIME = "(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})";
const SHORT = "(?<weekday>Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG = "(?<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)";
const MONTH = `(?<month>${MONTHS.join("|")})`;
const ZONE = "(?:GMT|UTC)";
const IMF_FIXDATE = new RegExp(
  `^${SHORT}, (?<day>[0-9]{2}) ${MONTH} (?<year>[0-9]{4}) ${TIME} GMT$`,
);
const LENIENT = [
  `${SHORT}, (?<day>[0-9]{1,2}) ${MONTH} (?<year>[0-9]{4}) ${TIME} ${ZONE}`,
  `${LONG}, (?<day>[0-9]{1,2})-${MONTH}-(?<year>[0-9]{2}) ${TIME} ${ZONE}`,
  `${SHORT} ${MONTH} (?<day>[ 0-9]?[0-9]) ${TIME} (?<year>[0-9]{4})`,
].map((pattern) => new RegExp(`^(?:${pattern})$`, "i"));

/**
 * A moment in seconds since 1970, or what is wrong with the text that has the
 * form of one.
 */
export interface HttpDate {
  readonly seconds: number | null;
  readonly problem: string | null;
}

/**
 * Read an HTTP-date, or null if the text has none of its forms.
 *
 * @param now - seconds since 1970; decides the century of a two-digit year
 */
export function parse(
  value: string,
  { now, lenient }: { readonly now: number; readonly lenient: boolean },
): HttpDate | null {
  const strict = IMF_FIXDATE.exec(value);
  if (strict) {
    return moment(strict, now, lenient);
  }
  for (const pattern of LENIENT) {
    const match = pattern.exec(value);
    if (match) {
      return lenient
        ? moment(match, now, lenient)
        : problem(
            "a sender writes IMF-fixdate, as in `Sun, 06 Nov 1994 08:49:37 GMT`",
          );
    }
  }
  return null;
}

/** The IMF-fixdate of a moment, whole seconds, for years 1 to 9999. */
export function render(seconds: number): string {
  const whole = Math.trunc(seconds);
  const days = Math.floor(whole / DAY);
  const rest = whole - days * DAY;
  const [year, month, day] = civil(days);
  const date = `${two(day)} ${MONTHS[month - 1]} ${String(year).padStart(4, "0")}`;
  const hour = two(Math.floor(rest / 3600));
  const time = `${hour}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  return `${weekdayOf(days).slice(0, 3)}, ${date} ${time} GMT`;
}

function moment(
  match: RegExpExecArray,
  now: number,
  lenient: boolean,
): HttpDate {
  const part = (name: string): string => match.groups?.[name] ?? "";
  const [day, hour] = [Number(part("day")), Number(part("hour"))];
  const [minute, second] = [Number(part("minute")), Number(part("second"))];
  const named = part("month").toLowerCase();
  const month = MONTHS.findIndex((each) => each.toLowerCase() === named) + 1;
  let year = Number(part("year"));
  if (part("year").length === 2) {
    year = century(year, now);
  }
  if (
    year === 0 ||
    day < 1 ||
    day > (LENGTHS[month - 1] ?? 0) ||
    (month === 2 && day === 29 && !isLeap(year))
  ) {
    return problem("there is no such day");
  }
  if (
    hour > 23 ||
    minute > 59 ||
    second > 60 ||
    (second === 60 && !(hour === 23 && minute === 59))
  ) {
    return problem("there is no such time of day");
  }
  const days = daysTo(year, month, day);
  const weekday = weekdayOf(days);
  const given = part("weekday").toLowerCase();
  if (!lenient && given !== weekday.slice(0, 3).toLowerCase()) {
    return problem(`that day is a ${weekday}`);
  }
  const seconds = days * DAY + hour * 3600 + minute * 60 + second;
  return { seconds, problem: null };
}

function problem(text: string): HttpDate {
  return { seconds: null, problem: text };
}

function century(year: number, now: number): number {
  const latest = 1970 + Math.floor(now / YEAR) + 50;
  return latest - modulo(latest - year, 100);
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function weekdayOf(days: number): string {
  return WEEKDAYS[modulo(days + 3, 7)] ?? "";
}

/**
 * Days since 1970-01-01 in the Gregorian calendar; a year is counted from March,
 * so that February comes last.
 */
function daysTo(year: number, month: number, day: number): number {
  const marches = month < 3 ? year - 1 : year;
  const months = (month + 9) % 12;
  return (
    365 * marches +
    Math.floor(marches / 4) -
    Math.floor(marches / 100) +
    Math.floor(marches / 400) +
    Math.floor((153 * months + 2) / 5) +
    day -
    719_469
  );
}

/**
 * The inverse of `daysTo`, by trying the year that the mean length suggests and
 * its neighbours.
 */
function civil(days: number): [year: number, month: number, day: number] {
  let year = 1971 + Math.floor(days / 365.2425);
  while (daysTo(year, 1, 1) > days) {
    year -= 1;
  }
  let month = 12;
  while (daysTo(year, month, 1) > days) {
    month -= 1;
  }
  return [year, month, days - daysTo(year, month, 1) + 1];
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

function modulo(number: number, by: number): number {
  return ((number % by) + by) % by;
}
