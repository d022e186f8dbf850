export { environment } from "../node/env.ts";
