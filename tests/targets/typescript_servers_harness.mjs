// Answers questions about compiled modules for servers: JSON on standard input and output.
//
// A question is {package, ask, …}; `package` is a folder below this process's first argument.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const questions = JSON.parse(readFileSync(0, "utf8"));

async function load(name, module) {
  return import(pathToFileURL(`${folder}/${name}/${module}.js`).href);
}

function told(make) {
  try {
    return make();
  } catch (thrown) {
    return { thrown: thrown.name };
  }
}

function sent({ status, headers, body }) {
  return [status, Object.entries(headers), JSON.parse(body)];
}

const ASKED = {
  // Errors made without what they need, as they are sent.
  bare: async ({ package: name, cases, slots }) => {
    const [{ bare }, { render }] = [await load(name, "exceptions"), await load(name, "render")];
    return cases.map(({ code, details }) =>
      told(() => sent(render(bare(code, null, details), { slots }))),
    );
  },
  // Errors made as a service makes them: a class, details and options.
  thrown: async ({ package: name, cases }) => {
    const [exceptions, { render }] = [await load(name, "exceptions"), await load(name, "render")];
    return cases.map(({ type, details, options }) =>
      told(() => sent(render(new exceptions[type](details, options)))),
    );
  },
  // The answers of a boundary to statuses without a code.
  statuses: async ({ package: name, cases, request, completed }) => {
    const lines = [];
    const { Boundary } = await load(name, "boundary");
    const boundary = new Boundary({
      log: ({ level, message }) => lines.push([level, message]),
      complete: () => completed ?? {},
      choose: () => null,
    });
    const exchange = boundary.open(request);
    const found = cases.map(({ status, headers, body }) => {
      const answer = exchange.answerStatus(status, headers ?? {}, body ?? "");
      return [answer.status, answer.headers, JSON.parse(answer.body)];
    });
    return { found, lines };
  },
  // Whether answers of an application are sound envelopes.
  own: async ({ package: name, cases, request }) => {
    const { Boundary } = await load(name, "boundary");
    const exchange = new Boundary({ complete: () => ({}), choose: () => null }).open(request);
    return cases.map(({ status, headers, body }) => exchange.isEnvelope(status, headers, body));
  },
  // Identifiers, with a clock and bytes that are given.
  ids: async ({ package: name, formats, now, byte }) => {
    const { newId, matches } = await load(name, "_runtime/ids");
    const random = (count) => new Uint8Array(count).fill(byte);
    return formats.map((format) => {
      const made = newId(format, { now, random });
      return [made, matches([format], made), matches([format], newId(format))];
    });
  },
};

const answers = [];
for (const { ask, ...question } of questions) {
  answers.push(await ASKED[ask](question));
}
process.stdout.write(JSON.stringify(answers, (_, value) => (value === undefined ? null : value)));
