// The provider's models are those that the AI SDK takes.
import { createProviderRegistry, embed, experimental_generateVideo, generateImage, generateSpeech, generateText, rerank, transcribe } from 'ai'
import { createUnitask } from 'unitask/ai-sdk'

const unitask = createUnitask({ baseUrl: 'https://ai.example.com', apiKey: 'x' })
export const registry = createProviderRegistry({ unitask })
export const results = [
  generateText({ model: unitask('text.chat'), prompt: 'hello' }),
  embed({ model: unitask.embedding(), value: 'hello' }),
  generateImage({ model: unitask.image('image.edit'), prompt: 'hello' }),
  generateSpeech({ model: unitask.speech(), text: 'hello' }),
  transcribe({ model: unitask.transcription(), audio: new Uint8Array() }),
  experimental_generateVideo({ model: unitask.video(), prompt: 'hello' }),
  rerank({ model: unitask.reranking(), query: 'hello', documents: ['hello'] }),
]
