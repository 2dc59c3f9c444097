// The shop in Fastify.
import { Readable } from "node:stream";
import cors from "@fastify/cors";
import fastify from "fastify";
import { NotFound, OutOfStock, SkuTaken } from "./shop-errors/exceptions.js";
import { frameworkErrors, install } from "./shop-errors/frameworks/fastify.js";

export const app = fastify({ bodyLimit: 1000, frameworkErrors: frameworkErrors() });
install(app);
await app.register(cors, { origin: "http://shop.example" });
app.addHook("onRequest", async (_request, reply) => {
  reply.header("Set-Cookie", "session=1");
});

app.get<{ Params: { item: string } }>("/items/:item", async (request) => {
  if (request.params.item !== "1") throw new NotFound();
  return { id: request.params.item };
});

const order = {
  type: "object",
  required: ["sku", "amount"],
  properties: { sku: { type: "string" }, amount: { type: "integer" } },
};

app.post<{ Body: { sku: string; amount: number } }>(
  "/items",
  { schema: { body: order } },
  async (request, reply) => {
    const { sku } = request.body;
    if (sku === "few") throw new OutOfStock({ available: 3 });
    return reply.code(201).send({ sku });
  },
);

app.get("/typed", async () => {
  throw new SkuTaken();
});

app.get("/bare", async (_request, reply) => reply.code(409).send());

app.get("/crash", async () => {
  throw new Error("hunter2");
});

app.get("/stream", async (_request, reply) => {
  async function* parts(): AsyncGenerator<string> {
    yield "begin";
    throw new Error("hunter2");
  }
  return reply.send(Readable.from(parts()));
});

app.get("/slow", async () => {
  await new Promise((resolve) => setTimeout(resolve, 500));
  return { done: true };
});

export function serve(port: number): void {
  void app.listen({ port, host: "127.0.0.1" });
}
