// Keeps a person's runs in this browser: the request without the bytes of files, and what became of it. A request that
// has no answer yet is kept whole, under its Idempotency-Key. No key of the API and no session is ever in it.

const database = "unitask-runs";
const mostRuns = 200; // of a person
const mostBytes = 20 << 20; // of a person's runs, and as many of requests without an answer

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const over = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onabort = () => reject(transaction.error);
});

// Store is the runs of one person. A browser may refuse any of it: each method may fail.
export class Store {
  // open returns the store of a person, who is known by an id.
  static async open(owner) {
    const opening = indexedDB.open(database, 1);
    opening.onupgradeneeded = () => {
      for (const name of ["runs", "requests"]) opening.result.createObjectStore(name, { keyPath: "key" }).createIndex("owner", ["owner", "at"]);
    };
    const store = new Store();
    store.database = await done(opening);
    store.owner = owner;
    store.database.onversionchange = () => store.database.close();
    return store;
  }

  // add keeps a run before its request is sent, and the request's body until answered is called.
  async add(run, body) {
    const { owner } = this;
    const transaction = this.database.transaction(["runs", "requests"], "readwrite", { durability: "strict" });
    transaction.objectStore("runs").put({ ...run, owner, bytes: sizeOf(run) });
    transaction.objectStore("requests").put({ key: run.key, at: run.at, owner, body, bytes: body.length });
    for (const name of ["runs", "requests"]) trim(transaction.objectStore(name), this.range());
    await over(transaction);
  }

  // change sets members of a run that is kept, and returns it; undefined if it isn't. A state older than the one
  // that is kept, as after a look that took long, changes nothing unless it is an end.
  async change(key, members) {
    const transaction = this.database.transaction("runs", "readwrite");
    const runs = transaction.objectStore("runs");
    const run = await done(runs.get(key));
    if (run?.owner !== this.owner) return undefined;
    if (!members.ended && members.updated < run.updated) return run;
    Object.assign(run, members);
    runs.put({ ...run, bytes: sizeOf(run) });
    await over(transaction);
    return run;
  }

  // answered forgets the body of a request.
  async answered(key) {
    const transaction = this.database.transaction("requests", "readwrite");
    transaction.objectStore("requests").delete(key);
    await over(transaction);
  }

  // body returns that of a request without an answer, undefined for another.
  async body(key) {
    const kept = await done(this.database.transaction("requests").objectStore("requests").get(key));
    return kept?.owner === this.owner ? kept.body : undefined;
  }

  // remove forgets a run.
  async remove(key) {
    const transaction = this.database.transaction(["runs", "requests"], "readwrite");
    for (const name of ["runs", "requests"]) transaction.objectStore(name).delete(key);
    await over(transaction);
  }

  // all returns the person's runs, the newest first.
  async all() {
    const runs = await done(this.database.transaction("runs").objectStore("runs").index("owner").getAll(this.range()));
    return runs.reverse();
  }

  // clear forgets all of the person.
  async clear() {
    const transaction = this.database.transaction(["runs", "requests"], "readwrite");
    for (const name of ["runs", "requests"]) {
      const keys = await done(transaction.objectStore(name).index("owner").getAllKeys(this.range()));
      for (const key of keys) transaction.objectStore(name).delete(key);
    }
    await over(transaction);
  }

  range() { return IDBKeyRange.bound([this.owner], [this.owner, []]); }
}

// trim removes the oldest of a person's that are too many or too much. The newest stays.
function trim(store, range) {
  let count = 0;
  let bytes = 0;
  const cursor = store.index("owner").openCursor(range, "prev");
  cursor.onsuccess = () => {
    const at = cursor.result;
    if (!at) return;
    count++;
    bytes += at.value.bytes;
    if (count > 1 && (count > mostRuns || bytes > mostBytes)) at.delete();
    at.continue();
  };
}

const sizeOf = ({ request, pictures = [], ...rest }) =>
  JSON.stringify(request ?? null).length + JSON.stringify(rest).length + pictures.reduce((sum, { size }) => sum + size, 0);

// forget removes a person's runs from this browser.
export async function forget(owner) {
  const store = await Store.open(owner);
  await store.clear();
  store.database.close();
}
