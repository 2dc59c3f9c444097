// The shop in Express.
import cors from "cors";
import express from "express";
import createError from "http-errors";
import { NotFound, OutOfStock, SkuTaken, ValidationFailed } from "./shop-errors/exceptions.js";
import { errorBoundary } from "./shop-errors/frameworks/express.js";

export const app = express();
const errors = errorBoundary();
app.use(errors.first);
app.use(cors({ origin: "http://shop.example" }));
app.use((_request, response, next) => {
  response.append("Set-Cookie", "session=1");
  next();
});
app.use(express.json({ limit: 1000 }));

app.get("/items/:item", (request, response) => {
  if (request.params.item !== "1") throw new NotFound();
  response.json({ id: request.params.item });
});

app.post("/items", (request, response) => {
  const order: unknown = request.body;
  const { sku, amount } = (order ?? {}) as Record<string, unknown>;
  if (typeof sku !== "string") throw new ValidationFailed({ field: "sku" });
  if (typeof amount !== "number") throw new ValidationFailed({ field: "amount" });
  if (sku === "few") throw new OutOfStock({ available: 3 });
  response.status(201).json({ sku });
});

app.get("/typed", () => {
  throw new SkuTaken();
});

app.get("/bare", (_request, response) => {
  response.sendStatus(409);
});

app.get("/made", (_request, _response, next) => {
  next(createError(409, "hunter2"));
});

app.get("/crash", () => {
  throw new Error("hunter2");
});

app.get("/stream", (_request, response, next) => {
  response.write("begin");
  setTimeout(() => {
    next(new Error("hunter2"));
  }, 50);
});

app.get("/slow", (_request, response) => {
  setTimeout(() => {
    response.json({ done: true });
  }, 500);
});

app.use(errors.last);

export function serve(port: number): void {
  app.listen(port, "127.0.0.1");
}
