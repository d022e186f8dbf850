import { argv } from "node:process";
import { runtime } from "./runtime.ts";

console.log(JSON.stringify({ runtime, args: argv.slice(2) }));
