// The shop in Hono, on Node.
import { serve as listen } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { validator } from "hono/validator";
import { NotFound, OutOfStock, SkuTaken, ValidationFailed } from "./shop-errors/exceptions.js";
import { install } from "./shop-errors/frameworks/hono.js";

export const app = new Hono();
install(app);
app.use("*", cors({ origin: "http://shop.example" }));
app.use("*", async (context, next) => {
  context.header("Set-Cookie", "session=1", { append: true });
  await next();
});
app.use("*", bodyLimit({ maxSize: 1000 }));

app.get("/items/:item", (context) => {
  if (context.req.param("item") !== "1") throw new NotFound();
  return context.json({ id: context.req.param("item") });
});

const order = validator("json", (value: unknown) => {
  const { sku, amount } = (value ?? {}) as Record<string, unknown>;
  if (typeof sku !== "string") throw new ValidationFailed({ field: "sku" });
  if (typeof amount !== "number") throw new ValidationFailed({ field: "amount" });
  return { sku };
});

app.post("/items", order, (context) => {
  const { sku } = context.req.valid("json");
  if (sku === "few") throw new OutOfStock({ available: 3 });
  return context.json({ sku }, 201);
});

app.get("/typed", () => {
  throw new SkuTaken();
});

app.get("/bare", (context) => context.body(null, 409));

app.get("/crash", () => {
  throw new Error("hunter2");
});

app.get("/stream", () => {
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("begin");
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error("hunter2");
  }
  const iterator = parts();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Response(body);
});

app.get("/slow", async (context) => {
  await new Promise((resolve) => setTimeout(resolve, 500));
  return context.json({ done: true });
});

export function serve(port: number): void {
  listen({ fetch: app.fetch, port, hostname: "127.0.0.1" });
}
