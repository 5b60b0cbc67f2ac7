# FairQueue in a container, for production: the server starts with an https address of yours, and runs as a user without rights.
#   docker build -t fairqueue .
#   docker run -p 127.0.0.1:8080:8080 -v fairqueue:/var/lib/fairqueue --ulimit nofile=65536 \
#     -e FAIRQUEUE_HTTP_PUBLIC_URL=https://tickets.example fairqueue
# A demo sale: docker run -p 127.0.0.1:8080:8080 --ulimit nofile=65536 -e FAIRQUEUE_ENVIRONMENT=development fairqueue serve --demo
# tests/blackbox/image.test.mjs builds and runs it with buildah.
FROM debian:12 AS build
# Parallel compilers; each needs 2 GB. Default: one for each processor.
ARG JOBS=
WORKDIR /src
COPY scripts/setup scripts/setup
RUN scripts/setup --run
COPY . .
RUN scripts/setup --run \
 && cmake --preset release -DFAIRQUEUE_TESTS=OFF \
 && cmake --build --preset release --parallel "${JOBS:-$(nproc)}" --target fairqueue fairqueue-load \
 && strip build/release/app/fairqueue build/release/load/fairqueue-load

FROM debian:12-slim
LABEL org.opencontainers.image.title="FairQueue" \
      org.opencontainers.image.description="A fair waiting line, ticket stock and payment in one server" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates fonts-dejavu-core libboost-json1.81.0 libboost-url1.81.0 libcairo2 libcaf-core0.17 libcaf-io0.17 libcjose0 libcmark0.30.2 libctemplate3 \
      libcurl4 libdate-tz3 libfmt9 libglib2.0-0 libgmime-3.0-0 libharfbuzz0b libhiredis0.14 libical3 libicu72 libjansson4 libnats3.4 libnettle8 libpango-1.0-0 libpangocairo-1.0-0 \
      libpq5 libprometheus-cpp-core1.0 libprotobuf-c1 libqrcodegencpp1 libsodium23 libspdlog1.10 libsqlite3-0 libssl3 libstdc++6 libsystemd0 libturbojpeg0 libwebp7 tzdata \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin fairqueue \
 && install -d -o fairqueue -g fairqueue -m 0700 /var/lib/fairqueue
COPY --from=build /src/build/release/app/fairqueue /src/build/release/load/fairqueue-load /usr/local/bin/
USER fairqueue
ENV FAIRQUEUE_ENVIRONMENT=production \
    FAIRQUEUE_DATA_DIR=/var/lib/fairqueue \
    FAIRQUEUE_HTTP_LISTEN=0.0.0.0:8080
VOLUME /var/lib/fairqueue
# 9090 is for Prometheus, with FAIRQUEUE_HTTP_ADMIN_LISTEN=0.0.0.0:9090. FAIRQUEUE_TLS_LISTEN sets the port of TLS.
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["fairqueue", "healthcheck"]
ENTRYPOINT ["fairqueue"]
CMD ["serve"]
