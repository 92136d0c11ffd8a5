// Makes the small pictures that stand for runs.

const side = 112; // pixels, twice as many as are shown
const mostBytes = 32 << 10; // of one picture
const mostTime = 10_000; // of a video that doesn't come

// pictureOf returns a small picture of an image's or a video's file; undefined of another file, or one that can't be drawn.
export async function pictureOf(blob) {
  try {
    if (blob.type.startsWith("image/")) return await shrink(await createImageBitmap(blob));
    if (blob.type.startsWith("video/")) return await shrink(await frameOf(blob));
  } catch {
    // the browser doesn't know the format
  }
  return undefined;
}

// shrink draws the middle of a picture as a square.
async function shrink(source) {
  const [width, height] = [source.videoWidth ?? source.width, source.videoHeight ?? source.height];
  const edge = Math.min(width, height);
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
  canvas.getContext("2d").drawImage(source, (width - edge) / 2, (height - edge) / 2, edge, edge, 0, 0, side, side);
  for (const quality of [0.8, 0.5, 0.2]) {
    const small = await new Promise((resolve) => { canvas.toBlob(resolve, "image/webp", quality); });
    if (small?.size <= mostBytes) return small;
  }
  return undefined;
}

// frameOf loads a video up to its first picture.
async function frameOf(blob) {
  const source = URL.createObjectURL(blob);
  const video = Object.assign(document.createElement("video"), { muted: true, preload: "auto", src: source });
  try {
    await new Promise((resolve, reject) => {
      video.addEventListener("loadeddata", resolve);
      video.addEventListener("error", reject);
      setTimeout(reject, mostTime);
    });
    return video;
  } finally {
    URL.revokeObjectURL(source);
  }
}
