// Opens pages in Chromium at two sizes, and prints what was seen as JSON.
// node website_harness.mjs MODULES CHROMIUM PAGES PROFILE [SCREENSHOTS]
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, chromium, list, profile, screenshots] = process.argv.slice(2);
const puppeteer = createRequire(pathToFileURL(`${modules}/`))("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  // Chromium refuses to run as root in a sandbox, and CI is root.
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const seen = [];
try {
  const page = await browser.newPage();
  let foreign = [];
  let complaints = [];
  page.on("request", (each) => each.url().startsWith("file:") || each.url().startsWith("data:") || foreign.push(each.url()));
  page.on("pageerror", (each) => complaints.push(String(each)));
  for (const width of [360, 1440]) {
    await page.setViewport({ width, height: 900 });
    for (const [number, file] of JSON.parse(readFileSync(list, "utf8")).entries()) {
      foreign = [];
      complaints = [];
      await page.goto(pathToFileURL(file).href, { waitUntil: "domcontentloaded" });
      const scrolls = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      if (screenshots) await page.screenshot({ path: `${screenshots}/${width}-${number}.png` });
      seen.push({ file, width, scrolls, foreign, complaints });
    }
  }
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(seen));
