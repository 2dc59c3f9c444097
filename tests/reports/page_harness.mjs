// Opens a report in Chromium, as a person would at each size and in each scheme, and prints what was seen as JSON.
// node page_harness.mjs MODULES CHROMIUM PAGE PROFILE [SCREENSHOTS]
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, chromium, page_, profile, screenshots] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/`));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  // Chromium refuses to run as root in a sandbox, and CI is root.
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const seen = [];
try {
  for (const width of [360, 1280]) {
    for (const scheme of ["light", "dark"]) seen.push({ width, scheme, ...(await look(width, scheme)) });
  }
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(seen));

async function look(width, scheme) {
  const page = await browser.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (each) => requests.push(each.url()));
  page.on("console", (each) => complaints.push(each.text()));
  page.on("pageerror", (each) => complaints.push(String(each)));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setOfflineMode(true);
  await page.goto(pathToFileURL(page_).href);
  const shot = (name) => screenshots && page.screenshot({ path: `${screenshots}/${width}-${scheme}-${name}.png`, fullPage: true });

  const layout = await page.evaluate(measured);
  await shot("closed");
  for (const part of ["body", "#clauses"]) {
    await page.evaluate((where) => document.querySelector(where).scrollIntoView(), part);
    if (screenshots) await page.screenshot({ path: `${screenshots}/${width}-${scheme}-at-${part.replace("#", "")}.png` });
  }
  const tabs = await tabbed(page);
  await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
  const opened = await page.evaluate(measured);
  await shot("opened");
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  const filter = await filtered(page);
  await page.close();
  return { requests, complaints, layout, opened, tabs, filter, violations: violations.map((each) => ({ id: each.id, impact: each.impact, nodes: each.nodes.map((node) => node.html) })) };
}

// What sticks out of the page to the right, and which rows of the matrix show nothing of a verdict, an address or a title.
function measured() {
  const wide = document.documentElement.clientWidth;
  const inside = (each) => {
    const box = each.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.left >= 0 && box.right <= wide + 0.5;
  };
  const rows = [...document.querySelectorAll("#clauses tbody tr")];
  const sticking = [...document.querySelectorAll("body *")].filter((each) => !each.closest("pre") && each.getBoundingClientRect().width > 0 && !inside(each));
  return {
    scrolls: document.documentElement.scrollWidth > wide || [...document.querySelectorAll(".wide")].some((each) => each.scrollWidth > each.clientWidth),
    sticking: sticking.map((each) => each.outerHTML.slice(0, 120)),
    rows: rows.length,
    unread: rows.filter((row) => ![0, 1, 2].every((at) => inside(row.cells[at]) && row.cells[at].textContent.trim())).length,
    background: getComputedStyle(document.body).backgroundColor,
    small: [...document.querySelectorAll("body *")].filter((each) => each.children.length === 0 && each.textContent.trim() && parseFloat(getComputedStyle(each).fontSize) < 12).length,
  };
}

// Every stop of the Tab key until it comes round, whether its focus can be seen, and what Enter and Space do.
async function tabbed(page) {
  const stops = [];
  for (let at = 0; at < 400; at++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const each = document.activeElement;
      if (!each || each === document.body || each.dataset.visited) return null;
      each.dataset.visited = "yes";
      const style = getComputedStyle(each);
      return { tag: each.tagName, ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
    });
    if (stop === null) break;
    if (stop.tag === "SUMMARY" && !stops.some((each) => each.tag === "SUMMARY")) {
      await page.keyboard.press("Enter");
      stop.opens = await page.evaluate(() => document.activeElement.parentElement.open);
      await page.keyboard.press("Enter");
    }
    if (stop.tag === "BUTTON") {
      const pressed = () => page.evaluate(() => document.activeElement.getAttribute("aria-pressed"));
      await page.keyboard.press("Space");
      stop.toggles = [await pressed()];
      await page.keyboard.press("Space");
      stop.toggles.push(await pressed());
    }
    stops.push(stop);
  }
  return stops;
}

// The rows that are left by a word, by a word that is nowhere, and without the verdict `passed`.
async function filtered(page) {
  const left = () =>
    page.evaluate(() => [...document.querySelectorAll(".row")].filter((each) => each.getClientRects().length).map((each) => each.textContent.toLowerCase()));
  const all = await left();
  const written = async (words) => {
    await page.$eval("#words", (each) => (each.value = ""));
    await page.type("#words", words);
    const found = await left();
    const output = await page.evaluate(() => document.getElementById("left").textContent);
    await page.$eval("#words", (each) => {
      each.value = "";
      each.dispatchEvent(new Event("input"));
    });
    return { found, output };
  };
  const word = await written("Leaks stack");
  const none = await written("nowhere-at-all");
  await page.click('.chip[data-verdict="passed"]');
  const unpassed = await page.evaluate(() => [...document.querySelectorAll(".row")].filter((each) => each.getClientRects().length).map((each) => each.dataset.verdict));
  return { all: all.length, word, none, unpassed: [...new Set(unpassed)] };
}
