#include "cudaexporter/web.h"
void web_serve_if_server(int argc, char **argv) { (void)argc; (void)argv; }
void web_open(struct web *w, const struct web_options *o) { (void)w; (void)o; }
void web_tick(struct web *w) { (void)w; }
void web_close(struct web *w) { (void)w; }
