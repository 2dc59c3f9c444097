// Answers questions about compiled modules for servers: JSON on standard input and output.
//
// A question is {package, ask, …}; `package` is a folder below this process's first argument.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
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

const PART = new Uint8Array(65_536);

// An Express application's error of so many parts: its answer, and the parts that it took.
async function longOfExpress(name, parts) {
  const { errorBoundary } = await load(name, "frameworks/express");
  const { first } = errorBoundary();
  let written = 0;
  const server = createServer((request, response) =>
    first(request, response, () => {
      response.statusCode = 502;
      while (written < parts && response.write(PART)) written += 1;
      response.end("late", () => undefined);
      response.write("later");
    }),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
  const found = [answer.status, (await answer.json()).code, written];
  server.close();
  return found;
}

// An Express application's answer to each error whose head Node refuses, which it ends later.
async function refusedOfExpress(name, heads) {
  const { errorBoundary } = await load(name, "frameworks/express");
  const boundary = errorBoundary({ log: () => undefined });
  const left = [...heads];
  const server = createServer((request, response) =>
    boundary.first(request, response, () => {
      try {
        response.writeHead(...left.shift());
        setTimeout(() => response.end("late"));
      } catch (error) {
        boundary.last[1](error, request, response);
      }
    }),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const found = [];
  while (left.length > 0) {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
    const challenge = answer.headers.get("www-authenticate");
    found.push([answer.status, (await answer.json()).code, challenge]);
  }
  server.close();
  return found;
}

// The middleware of a Hono application, around a handler that answers or throws.
async function answeredByHono(name, response, thrown) {
  const { install } = await load(name, "frameworks/hono");
  let middleware;
  install({ use: (_, found) => (middleware = found), onError() {}, notFound() {} });
  const context = {
    req: { method: "GET", path: "/", raw: { headers: new Headers() } },
    res: response,
    body: (body, status) => new Response(body, { status }),
  };
  await middleware(context, () => (thrown === undefined ? undefined : Promise.reject(thrown)));
  return [context.res.status, (await context.res.json()).code];
}

const ASKED = {
  // Errors longer than an envelope may be: their answers, and the parts that were read.
  long: async ({ package: name, parts }) => {
    let read = 0;
    const pull = (controller) =>
      (read += 1) < parts ? controller.enqueue(PART) : controller.close();
    const body = new ReadableStream({ pull });
    const hono = await answeredByHono(name, new Response(body, { status: 502 }));
    return { express: await longOfExpress(name, parts), hono: [...hono, read] };
  },
  // The answers to errors whose heads Node refuses.
  refused: async ({ package: name, heads }) => await refusedOfExpress(name, heads),
  // The answer to a handler that throws what is no error.
  value: async ({ package: name }) => await answeredByHono(name, new Response(""), "thrown"),
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
