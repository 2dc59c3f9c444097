// Makes calls with the generated clients, as a script on standard input says; the results are
// JSON on standard output.
//
// A call is {library, url, method, headers, body, …}; `retries` names those that calls share.
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

const [folder, name, axiosPath] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(0, "utf8"));
const load = (module) => import(pathToFileURL(`${folder}/${name}/${module}.js`).href);

const [fetching, axiosModule, { Retries }, exceptions] = [
  await load("clients/fetch"),
  await load("clients/axios"),
  await load("retrying"),
  await load("exceptions"),
];
const axios = (await import(pathToFileURL(axiosPath).href)).default;
const shared = new Map();

function told(error) {
  const kind = Object.values(exceptions).find((each) => each === error.constructor);
  const { name, code, status, message, details, retryAfter } = error;
  return { error: { name, code, status, message, details, retryAfter, typed: kind !== undefined } };
}

// The peak of this program: `maxRSS` counts the process that started it, too.
function peak() {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
}

const SENDERS = {
  fetch: async ({ url, method, headers, body, signal, asRequest }, options) => {
    const send = fetching.withRetries(fetch, options);
    const init = { method, headers, body, signal, duplex: "half" };
    const answer = asRequest ? await send(new Request(url, init)) : await send(url, init);
    return { status: answer.status, text: await answer.text() };
  },
  axios: async ({ url, method, headers, body, signal }, options) => {
    const client = axios.create();
    client.defaults.adapter = axiosModule.withRetries(
      axios.getAdapter(client.defaults.adapter),
      options,
    );
    const answer = await client.request({ url, method, headers, data: body, signal });
    return { status: answer.status, text: JSON.stringify(answer.data) };
  },
};

const results = [];
for (const { library, retries, clock, random, abortAfter, once, ...call } of calls) {
  const waits = [];
  const own = () =>
    new Retries({
      ...(clock === undefined ? {} : { clock: () => clock }),
      ...(random === undefined ? {} : { random: () => random }),
    });
  if (retries !== undefined && !shared.has(retries)) shared.set(retries, own());
  const controller = new AbortController();
  const options = { retries: retries === undefined ? own() : shared.get(retries) };
  if (abortAfter === undefined) {
    options.sleep = async (seconds) => void waits.push(seconds);
  } else {
    setTimeout(() => controller.abort(), abortAfter);
  }
  const began = Date.now();
  const streams = { fetch: ReadableStream, axios: Readable };
  const bytes = new TextEncoder().encode(call.body);
  const body = once ? streams[library].from([bytes]) : call.body;
  const signal = abortAfter === undefined ? undefined : controller.signal;
  const sent = { ...call, body, signal };
  let result;
  try {
    result = await SENDERS[library](sent, options);
  } catch (error) {
    result = told(error);
  }
  const kilobytes = peak();
  results.push({ ...result, waits, took: Date.now() - began, kilobytes });
}
process.stdout.write(JSON.stringify(results));
process.exit(0);
