# The image of a release: goreleaser lays the built binary beside this file, by platform.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/unitask /usr/bin/unitask
VOLUME /home/nonroot
EXPOSE 8420
ENTRYPOINT ["/usr/bin/unitask"]
CMD ["serve", "--listen", "0.0.0.0:8420", "--data-dir", "/home/nonroot/data"]
