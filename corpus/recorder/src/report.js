new Promise((done) => {
  const largest = [];
  try {
    new PerformanceObserver((list) => largest.push(...list.getEntries()))
      .observe({ type: 'largest-contentful-paint', buffered: true });
  } catch (error) { /* a browser without it */ }
  const area = (rect) => {
    const width = Math.min(rect.right, innerWidth) - Math.max(rect.left, 0);
    const height = Math.min(rect.bottom, innerHeight) - Math.max(rect.top, 0);
    return Math.max(width, 0) * Math.max(height, 0) / (innerWidth * innerHeight);
  };
  const report = () => {
    const boxes = [];
    const visible = (element) => element.checkVisibility
      ? element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) : true;
    for (const element of document.querySelectorAll('*')) {
      const share = visible(element) ? area(element.getBoundingClientRect()) : 0;
      const shown = element.tagName === 'IMG' ? element.currentSrc
        : element.tagName === 'VIDEO' ? element.poster
        : element.tagName === 'INPUT' && element.type === 'image' ? element.src
        : element.tagName === 'image' ? new URL(element.href.baseVal, document.baseURI).href : '';
      if (shown) boxes.push({ url: shown, share, background: false });
      for (const pseudo of [null, '::before', '::after']) {
        const style = getComputedStyle(element, pseudo);
        const images = [style.backgroundImage, style.borderImageSource, style.listStyleImage, style.maskImage, style.content];
        for (const match of images.join().matchAll(/url\("([^"]+)"\)/g)) {
          if (!match[1].startsWith('data:')) {
            boxes.push({ url: match[1], share, background: true });
          }
        }
      }
    }
    const elements = [];
    for (const it of document.querySelectorAll('script[src], link[href], img')) {
      const tag = it.tagName.toLowerCase();
      const mode = tag === 'link' ? it.rel
        : tag === 'img' ? (it.loading === 'lazy' ? 'lazy' : '')
        : it.type === 'module' ? 'module' : it.async ? 'async' : it.defer ? 'defer' : '';
      elements.push({
        url: tag === 'link' ? it.href : tag === 'img' ? it.currentSrc : it.src, tag, mode,
        inHead: document.head !== null && document.head.contains(it),
        fetchpriority: it.getAttribute('fetchpriority') || '',
      });
    }
    const last = largest[largest.length - 1];
    const timing = performance.getEntriesByType('navigation')[0];
    done(JSON.stringify({
      boxes, elements,
      largest: last && last.url ? last.url : null,
      largestRender: last ? last.renderTime || last.startTime : null,
      requestStart: timing.requestStart,
      firstRender: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
      domReady: timing.domContentLoadedEventStart,
      loaded: timing.loadEventStart,
      bodies: [timing, ...performance.getEntriesByType('resource')].map((it) => ({
        url: it.name, encoded: it.encodedBodySize, decoded: it.decodedBodySize,
        startTime: it.startTime, responseEnd: it.responseEnd,
      })),
      serviceWorker: Boolean(navigator.serviceWorker && navigator.serviceWorker.controller),
      url: location.href,
    }));
  };
  setTimeout(report, 50);
})
