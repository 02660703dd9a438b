FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY libs/dashboard/package.json libs/dashboard/
COPY libs/messaging/package.json libs/messaging/
COPY libs/smpp/package.json libs/smpp/
COPY test/nest11/package.json test/nest11/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/libs libs
COPY --from=build /app/src/cli/dundun.js src/cli/
COPY --from=build /app/dist dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]
