// Serves the shop of one framework: `node serve.mjs express 8080`.
const [name, port] = process.argv.slice(2);
const { serve } = await import(`./${name}.js`);
serve(Number(port));
