// Just enough of the better-sqlite3 surface for the checkpointer, on the runtime's own SQLite.
// (The native addon needs a download or node headers; both SQLite builds are in-process and synchronous.)
const { DatabaseSync } = require("node:sqlite");
const plain = (r) => {
  if (!r) return undefined;
  const o = { ...r };
  for (const k of Object.keys(o)) {
    if (o[k] instanceof Uint8Array && !Buffer.isBuffer(o[k])) {
      o[k] = Buffer.from(o[k].buffer, o[k].byteOffset, o[k].byteLength);
    }
  }
  return o;
};
module.exports = class Database {
  constructor(path) {
    this.db = new DatabaseSync(path);
  }
  pragma(s) {
    return this.db.prepare(`PRAGMA ${s}`).all();
  }
  exec(s) {
    this.db.exec(s);
    return this;
  }
  prepare(sql) {
    const st = this.db.prepare(sql);
    return {
      get: (...a) => plain(st.get(...fix(a))),
      all: (...a) => st.all(...fix(a)).map(plain),
      run: (...a) => st.run(...fix(a)),
    };
  }
  transaction(fn) {
    return (...a) => {
      this.db.exec("BEGIN");
      try {
        const r = fn(...a);
        this.db.exec("COMMIT");
        return r;
      } catch (e) {
        this.db.exec("ROLLBACK");
        throw e;
      }
    };
  }
  close() {
    this.db.close();
  }
};
const fix = (a) => a.map((v) => (v === undefined ? null : v));
