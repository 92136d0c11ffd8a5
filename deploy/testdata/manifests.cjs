// Checks Kubernetes manifests against types and validators that are made from Kubernetes' OpenAPI document (the npm
// package kubernetes-models): unknown members, missing ones and wrong types by the TypeScript compiler, values by the
// validators. Prints one problem a line.
//
//   node manifests.cjs NODE_MODULES MANIFESTS.json     an array of manifests
const fs = require('fs'), os = require('os'), path = require('path')
const [modules, file] = process.argv.slice(2)
const models = path.resolve(modules, 'kubernetes-models')
const ts = require(path.resolve(modules, 'typescript'))
const manifests = JSON.parse(fs.readFileSync(file, 'utf8'))
const problems = []

// folder returns the models' folder of an API version, such as networking.k8s.io/v1.
const folder = m => path.join(models, ...m.apiVersion.split('/'))
const title = m => `${m.kind} ${m.metadata && m.metadata.name}`

const known = manifests.filter(m => {
  const there = fs.existsSync(path.join(folder(m), m.kind + '.d.ts'))
  if (!there) problems.push(`${title(m)}: ${m.apiVersion} has no such kind`)
  return there
})
for (const m of known) {
  const model = new (require(path.join(folder(m), m.kind + '.js'))[m.kind])(m)
  try {
    model.validate()
  } catch (e) {
    problems.push(`${title(m)}: ${e.message}`)
  }
}

const source = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'manifests-')), 'manifests.ts')
fs.writeFileSync(source, known.map((m, i) =>
  `import { I${m.kind} as T${i} } from ${JSON.stringify(path.join(folder(m), m.kind))}\n` +
  `export const m${i}: T${i} = ${JSON.stringify(m, null, 1)}\n`).join('\n'))
const program = ts.createProgram([source], {
  strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10
})
for (const d of ts.getPreEmitDiagnostics(program)) {
  const line = d.file && d.start !== undefined ? d.file.text.slice(d.start).split('\n', 1)[0] : ''
  problems.push(`${line.trim()}: ${ts.flattenDiagnosticMessageText(d.messageText, ' ')}`)
}
fs.rmSync(path.dirname(source), { recursive: true })
for (const p of problems) console.log(p)
process.exit(problems.length ? 1 : 0)
