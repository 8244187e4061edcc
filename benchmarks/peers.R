# R's step and leaps::regsubsets on one run: Rscript peers.R PEER X.bin y.bin n p direction criterion n_selected
# max_terms budget fits.csv selected.csv family. Prints JSON lines like the Python peers.
given <- commandArgs(TRUE)
peer <- given[1]; n <- as.integer(given[4]); p <- as.integer(given[5]); direction <- given[6]
criterion <- given[7]; n_selected <- as.integer(given[8]); max_terms <- as.integer(given[9])
budget <- as.numeric(given[10]); fits <- read.csv(given[11]); selected <- scan(given[12], quiet = TRUE)
family <- given[13]

X <- matrix(readBin(given[2], "double", as.double(n) * p), n, p)
y <- readBin(given[3], "double", if (family == "cox") 2 * n else n)
if (family == "cox") y <- survival::Surv(y[1:n], y[n + 1:n])
colnames(X) <- paste0("x", seq_len(p) - 1)

cpu <- function(expression) {
  before <- proc.time()
  force(expression)
  sum((proc.time() - before)[c("user.self", "sys.self")])
}

say <- function(seconds, how, found = NULL) {
  same <- if (is.null(found)) "null" else if (setequal(found, paste0("x", selected))) "true" else "false"
  cat(sprintf('{"seconds": %.6g, "how": "%s", "same": %s, "note": "R"}\n', seconds, how, same))
  flush(stdout())
}

# What is quick is repeated, for the median, like the Python peers.
measured <- function(f) {
  first <- cpu(f())
  if (first >= 1) first else median(c(first, replicate(4, cpu(f()))))
}

# What step spends on candidates at the least: one bare fit each.
candidate_fit <- switch(family,
  gaussian = function(design) lm.fit(design, y),
  cox = function(design) survival::coxph(y ~ design[, -1]),
  function(design) glm.fit(design, y, family = get(family)())
)

estimate <- function() {
  design <- cbind(1, X)
  sizes <- unique(round(seq(max(1, min(fits$size)), max(fits$size), length.out = 5)))
  one <- function(size) {
    repeats <- 0
    total <- 0
    while (repeats < 2 || total < budget / 60) {
      total <- total + cpu(candidate_fit(design[, seq_len(size + 1), drop = FALSE]))
      repeats <- repeats + 1
    }
    total / repeats
  }
  times <- vapply(sizes, one, 0)
  if (length(sizes) == 1) times[1] * sum(fits$count)
  else sum(fits$count * approx(sizes, times, fits$size, rule = 2)$y)
}

run_step <- function() {
  expected <- estimate()
  say(expected, "extrapolated")
  if (expected > budget) return(invisible())
  frame <- data.frame(y = y, X)
  scope <- list(lower = ~1, upper = reformulate(colnames(X)))
  start <- if (direction == "backward") reformulate(colnames(X), "y") else y ~ 1
  penalty <- switch(criterion, aic = 2, bic = log(n), pvalue = qchisq(0.95, 1))
  steps <- if (max_terms > 0) max_terms else 1000
  seconds <- cpu({
    first <- switch(family,
      gaussian = lm(start, frame),
      cox = survival::coxph(start, frame),
      glm(start, get(family), frame)
    )
    model <- step(first, scope, direction = direction, k = penalty, trace = 0, steps = steps)
  })
  say(seconds, "measured", setdiff(names(coef(model)), "(Intercept)"))
}

run_leaps <- function() {
  method <- switch(direction, forward = "forward", backward = "backward", both = "seqrep")
  search <- function() {
    found <<- suppressWarnings(
      leaps::regsubsets(X, y, nvmax = n_selected, method = method, really.big = TRUE)
    )
  }
  seconds <- measured(search)
  chosen <- tryCatch(setdiff(names(coef(found, n_selected)), "(Intercept)"), error = function(e) character())
  say(seconds, "measured", chosen)
}

if (peer == "step") run_step() else run_leaps()
