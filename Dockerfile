# The image of a release, on no other: goreleaser lays image.tar (packaging/image) and, by platform, the built binary
# beside this file.
FROM scratch
ARG TARGETPLATFORM
ADD image.tar /
COPY $TARGETPLATFORM/unitask /usr/bin/unitask
USER 65532:65532
WORKDIR /home/nonroot
ENV UNITASK_DATA_DIR=/home/nonroot/data
VOLUME /home/nonroot
EXPOSE 8420
HEALTHCHECK --timeout=5s --start-period=1m CMD ["/usr/bin/unitask", "suppliers"]
ENTRYPOINT ["/usr/bin/unitask"]
CMD ["serve", "--listen", "0.0.0.0:8420"]
