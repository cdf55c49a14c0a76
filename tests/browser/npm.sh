# Sourced. npm_packages FOLDER: what drives a browser and finds faults of accessibility, for node with
# NODE_PATH=FOLDER/node_modules.
npm_packages() {
  command -v npm >/dev/null || install_packages npm
  npm install --silent --no-fund --no-audit --prefix "$1" puppeteer-core@25 axe-core@4
}
