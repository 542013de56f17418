# The programs, the Python package and the notebook. ARTIFACT.md says what to run; by default the notebook is checked.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates make
COPY . /utmost
WORKDIR /utmost
# Installs Rust and the build tools first.
RUN make build

FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /utmost
COPY python/requirements.txt python/requirements.txt
RUN python3 -m venv /opt/python && /opt/python/bin/pip install --no-cache-dir -r python/requirements.txt
COPY python python
COPY results results
RUN /opt/python/bin/pip install --no-cache-dir --no-deps --no-build-isolation ./python
COPY --from=build /utmost/target/release/utmost /utmost/target/release/utmost-workshop /usr/local/bin/
ENV PATH=/opt/python/bin:$PATH
CMD ["python", "python/notebooks/execute.py", "--check"]
