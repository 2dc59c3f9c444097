// The library in Express, which links its pages in HTML: `SOUND=1 node express_library.cjs 8080`.
const express = require("express");
const SOUND = process.env.SOUND === "1", app = express();
const BOOKS = {1: "Emma", 2: "Persuasion"}, STOCK = {tea: 3};
if (SOUND) app.disable("x-powered-by");
const err = (res, status, message, h = {}) => res.status(status).set(h).json({error: {code: "e" + status, message}});
app.get("/", (q, r) => r.type("html").send(`<!doctype html><title>x</title><a href="/books">books</a> <a href='/stock/tea'>stock</a> <a href="account">account</a>
<form action="/search"><input name="q"></form> <a href="/reports?month=1">reports</a> <form method="post" action="/orders"><input name=sku></form> <a href="https://example.com/x">elsewhere</a>`));
app.get("/books", (q, r) => r.json(Object.entries(BOOKS).map(([id, title]) => ({id: +id, title}))));
app.get("/books/:id", (q, r) => {
  if (!/^\d{1,9}$/.test(q.params.id)) { if (SOUND) return err(r, 404, "no such book"); return null.x; }
  if (!BOOKS[q.params.id]) return err(r, 404, "no such book");
  r.json({id: +q.params.id, title: BOOKS[q.params.id]});
});
app.get("/stock/:sku", (q, r) => {
  if (!Object.hasOwn(STOCK, q.params.sku)) return SOUND ? err(r, 404, "unknown sku") : r.json({error: "unknown sku"});
  r.json({sku: q.params.sku, left: 3});
});
app.get("/account", (q, r) => err(r, 401, "log in", SOUND ? {"WWW-Authenticate": "Bearer"} : {}));
app.get("/search", (q, r) => SOUND || /^[a-z]*$/.test(q.query.q) ? r.json({found: []}) : r.status(400).type("html").send(`<h1>Cannot search ${q.query.q}</h1>`));
app.get("/reports", (q, r) => {
  if (/^\d*$/.test(q.query.month ?? "1")) return r.json({total: 1});
  if (SOUND) return err(r, 400, "month is a number");
  r.status(503).json({code: "DB", detail: "cannot connect to postgres://app:s3cretPassw0rd@10.0.0.3:5432/prod"});
});
app.post("/orders", (q, r) => r.status(201).json({ok: true}));
if (SOUND) {
  app.all("/orders", (q, r) => err(r, 405, "method", {Allow: "POST"}));
  app.use((q, r) => err(r, 404, "not found"));
  app.use((e, q, r, n) => err(r, e.status ?? 500, "failed"));
} else app.all("/orders", (q, r) => err(r, 405, "method"));
app.listen(+process.argv[2], "127.0.0.1");
