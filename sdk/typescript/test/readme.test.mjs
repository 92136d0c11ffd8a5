// The programs of the README, against a real service.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'

const page = await readFile(new URL('node_modules/unitask/README.md', import.meta.url), 'utf8')
const programs = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code)

/** What each prints; those that only export print nothing. */
const prints = [/^12\*7\+1 = 85\none two three\d+ bytes, for \d/, /^another prompt, please\n$/, /^$/, /^$/, /^.*85.*image\/png\n$/s]

test('the README has its programs', () => assert.equal(programs.length, prints.length))

programs.forEach((code, index) => {
  test(`program ${index + 1}`, async () => {
    const file = new URL(`readme-${index + 1}.mjs`, import.meta.url)
    await writeFile(file, code)
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname], { env: { ...process.env, NODE_NO_WARNINGS: '1' } })
    assert.match(stdout, prints[index])
  })
})
