// Writes what Google's library sends for a video: each call, and the body of its request. See README.md.
import http from 'node:http';
import { GoogleGenAI, VideoGenerationReferenceType } from '@google/genai';

const image = (text) => ({ imageBytes: Buffer.from(text).toString('base64'), mimeType: 'image/png' });
const reference = (text) => ({ image: image(text), referenceType: VideoGenerationReferenceType.ASSET });
const calls = [
  { source: { prompt: 'Waves' } },
  { source: { prompt: 'Waves' }, config: { durationSeconds: 8, aspectRatio: '9:16', resolution: '1080p' } },
  { source: { image: image('A') } },
  { source: { prompt: 'Waves', image: image('A') }, config: { lastFrame: image('B'), durationSeconds: 6 } },
  { source: { prompt: 'Waves' }, config: { referenceImages: [reference('A'), reference('B')], durationSeconds: 8 } },
];

let sent;
const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => { body += piece; });
  request.on('end', () => {
    sent = { path: request.url, body: JSON.parse(body) };
    response.setHeader('Content-Type', 'application/json');
    response.end('{"name":"models/model-1/operations/1"}');
  });
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const library = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: `http://127.0.0.1:${server.address().port}` } });
const lines = [];
for (const call of calls) {
  await library.models.generateVideos({ model: 'model-1', ...call });
  lines.push(JSON.stringify(sent));
}
server.close();
console.log(`[\n${lines.join(',\n')}\n]`);
