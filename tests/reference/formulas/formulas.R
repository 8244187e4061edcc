# Selections with interactions made by R's own step(): Rscript formulas.R DIRECTORY, this one for example.
# One data file per data set and one JSON file per case; needs MASS and survival, which come with R.
#
# path: the table `anova` of step(), with the model, its rank and its log-likelihood at each step.
# candidates: drop1() and add1() of every model on the path, with the scopes that step() gives them (factor.scope).
# Cases by p-value replay Efroymson's rule with the same tables, as R has no step() for them.
# spaces: rank and log-likelihood of formulas that leave margins out, as R fits them.

suppressMessages({library(MASS); library(survival)})
options(warn = -1)  # some candidates separate the response: their deviance is followed to its limit
out <- commandArgs(TRUE)[1]
for (folder in c("data", "expected")) dir.create(file.path(out, folder), recursive = TRUE, showWarnings = FALSE)

# JSON

number <- function(x) {
  short <- formatC(x, digits = 15, format = "g", width = -1)
  ifelse(is.finite(x) & as.numeric(short) != x, formatC(x, digits = 17, format = "g", width = -1), short)
}
quoted <- function(x) encodeString(as.character(x), quote = "\"")
json <- function(x, indent = "") {
  inner <- paste0(indent, "  ")
  if (is.null(x)) return("null")
  if (is.list(x)) {
    if (length(x) == 0) return("[]")
    parts <- vapply(x, json, "", indent = inner)
    if (is.null(names(x))) return(paste0("[\n", paste0(inner, parts, collapse = ",\n"), "\n", indent, "]"))
    if (all(vapply(x, is.atomic, NA)) && nchar(inner) > 2)
      return(paste0("{", paste0(quoted(names(x)), ": ", parts, collapse = ", "), "}"))
    return(paste0("{\n", paste0(inner, quoted(names(x)), ": ", parts, collapse = ",\n"), "\n", indent, "}"))
  }
  text <- if (is.numeric(x)) number(x) else if (is.logical(x)) tolower(x) else quoted(x)
  text[is.na(x)] <- "null"
  if (inherits(x, "AsIs") || length(x) != 1) paste0("[", paste0(text, collapse = ", "), "]") else text
}
save_json <- function(name, x) writeLines(json(x), file.path(out, "expected", paste0(name, ".json")))
text_of <- function(f) paste(trimws(deparse(f, width.cutoff = 500)), collapse = " ")

# Data

sets <- list()
add_data <- function(name, d) {
  sets[[name]] <<- d
  assign(name, d, envir = globalenv())
  plain <- d
  for (v in names(d)) if (is.factor(d[[v]])) plain[[v]] <- as.character(d[[v]])
  for (v in names(d)) if (is.double(d[[v]])) plain[[v]] <- ifelse(is.na(d[[v]]), NA, number(d[[v]]))
  write.csv(plain, file.path(out, "data", paste0(name, ".csv")), row.names = FALSE, na = "", quote = FALSE)
}
levels_of <- function(d) lapply(Filter(is.factor, d), function(v) I(levels(v)))

# One model

fitted_model <- function(f, case) {
  d <- as.name(case$data)
  w <- if (is.null(case$weights)) NULL else as.name(case$weights)
  # glm takes a thousandth of epsilon as the tolerance for aliased columns: not below what rounding leaves
  control <- quote(glm.control(epsilon = 1e-11, maxit = 100))
  call <- switch(case$family,
    gaussian = bquote(lm(.(f), data = .(d), weights = .(w))),
    binomial = bquote(glm(.(f), family = binomial, data = .(d), weights = .(w), control = .(control))),
    poisson = bquote(glm(.(f), family = poisson, data = .(d), weights = .(w), control = .(control))),
    cox = bquote(coxph(.(f), data = .(d), ties = "efron", control = coxph.control(eps = 1e-14, iter.max = 100))))
  if (is.null(w)) call$weights <- NULL
  eval(call, globalenv())
}
rank_of <- function(fit) if (inherits(fit, "coxph")) sum(!is.na(coef(fit))) else fit$rank
loglik_of <- function(fit) as.numeric(logLik(fit))
deviance_of <- function(fit) if (inherits(fit, "coxph")) NA else deviance(fit)

# Candidates

tests_of <- function(fit, scope, k, test) {
  now <- terms(fit)
  factors <- attr(now, "factors")
  if (!length(factors)) factors <- numeric()
  open <- factor.scope(factors, scope)
  rows <- list()
  read <- function(table, move) {
    p <- table[[grep("^Pr", colnames(table))]]
    for (at in seq_len(nrow(table))[-1])
      rows[[length(rows) + 1]] <<- list(move = move, term = rownames(table)[at], df = table[at, "Df"],
                                        AIC = table[at, "AIC"], p_value = p[at])
  }
  if (!is.null(scope$drop) && length(open$drop)) read(drop1(fit, open$drop, k = k, test = test, trace = 0), "remove")
  if (!is.null(scope$add) && length(open$add)) read(add1(fit, open$add, k = k, test = test, trace = 0), "add")
  rows
}
scopes <- function(fit, lower, upper, direction) list(
  drop = if (direction != "forward") attr(terms(update.formula(fit, lower)), "factors") %||% numeric(),
  add = if (direction != "backward") attr(terms(update.formula(fit, upper)), "factors") %||% numeric())
`%||%` <- function(x, y) if (is.null(x) || !length(x)) y else x

# Cases

case <- function(name, data, formula, family = "gaussian", direction = "both", criterion = "aic", lower = ~1,
                 upper = NULL, weights = NULL, alpha_enter = 0.05, alpha_remove = 0.10) {
  case <- list(name = name, data = data, formula = text_of(formula), family = family, direction = direction,
               criterion = criterion, weights = weights, alpha_enter = alpha_enter, alpha_remove = alpha_remove)
  start <- fitted_model(formula(terms(formula, data = sets[[data]])), case)
  if (is.null(upper)) upper <- formula(start)
  upper <- update.formula(formula(start), upper)
  case$scope <- list(lower = text_of(lower), upper = text_of(upper[-2]))
  used <- na.omit(sets[[data]][, unique(all.vars(upper))])
  n <- if (family == "cox") sum(used$status) else nrow(used)
  k <- switch(criterion, aic = 2, bic = log(n), pvalue = 2)
  test <- if (family == "gaussian") "F" else "Chisq"
  lower_ <- update.formula(formula(start), lower)
  if (criterion == "pvalue") moves <- NULL else {
    selected <- step(start, scope = list(lower = lower_, upper = upper), direction = direction, k = k, trace = 0)
    moves <- as.character(selected$anova$Step[-1])
  }
  fit <- start
  path <- list(); candidates <- list(); at <- 0
  repeat {
    path[[at + 1]] <- list(step = at, action = if (at) action else "start", term = if (at) term else NA,
      model = text_of(formula(fit)), rank = rank_of(fit), loglik = loglik_of(fit),
      AIC = extractAIC(fit, k = k)[2], deviance = deviance_of(fit))
    rows <- tests_of(fit, scopes(start, lower, upper, direction), k, test)
    for (row in rows) candidates[[length(candidates) + 1]] <- c(list(step = at + 1), row)
    if (criterion == "pvalue") {
      p <- vapply(rows, function(r) r$p_value, 0)
      kind <- vapply(rows, function(r) r$move, "")
      leave <- which(kind == "remove" & p > alpha_remove)
      enter <- which(kind == "add" & p < alpha_enter)
      chosen <- if (length(leave)) leave[which.max(p[leave])] else if (length(enter)) enter[which.min(p[enter])]
      if (is.null(chosen)) break
      action <- rows[[chosen]]$move; term <- rows[[chosen]]$term
    } else {
      if (at == length(moves)) break
      action <- if (substr(moves[at + 1], 1, 1) == "+") "add" else "remove"
      term <- substring(moves[at + 1], 3)
    }
    fit <- fitted_model(update.formula(formula(fit), paste(". ~ .", if (action == "add") "+" else "-", term)), case)
    at <- at + 1
  }
  if (criterion != "pvalue") {
    stopifnot(identical(attr(terms(fit), "term.labels"), attr(terms(selected), "term.labels")))
    for (i in seq_along(path)) path[[i]]$step_AIC <- selected$anova$AIC[i]
    stopifnot(max(abs(selected$anova$AIC - vapply(path, function(p) p$AIC, 0))) < 1e-6)
  }
  case$n <- n
  case$levels <- levels_of(sets[[data]])
  case$test <- test
  case$source <- R.version.string
  save_json(name, c(case, list(path = path, candidates = candidates,
    selected = I(as.character(attr(terms(fit), "term.labels"))), n_coefficients = rank_of(fit),
    loglik = loglik_of(fit), fitted = I(as.numeric(if (family == "cox") NA else head(fitted(fit), 10))))))
  cat(name, ":", vapply(path[-1], function(p) paste0(if (p$action == "add") "+" else "-", p$term), ""), "\n")
}

spaces <- function(name, data, formulas, family = "gaussian") {
  rows <- lapply(formulas, function(f) {
    fit <- fitted_model(f, list(data = data, family = family))
    list(formula = text_of(f), rank = rank_of(fit), loglik = loglik_of(fit))
  })
  save_json(name, list(name = name, data = data, family = family, levels = levels_of(sets[[data]]),
                       source = R.version.string, spaces = rows))
  cat(name, ":", length(rows), "models\n")
}

# The data sets

add_data("warpbreaks", warpbreaks)
add_data("toothgrowth", ToothGrowth)
cars <- within(mtcars, size <- factor(ifelse(cyl < 6, "small", "large")))
add_data("mtcars", cars)
birth <- within(birthwt, {
  race <- factor(race, labels = c("white", "black", "other")); ptd <- factor(ptl > 0)
  ftv <- factor(ifelse(ftv > 1, "2+", as.character(ftv)))
  smoke <- factor(smoke > 0); ht <- factor(ht > 0); ui <- factor(ui > 0)
})
add_data("birthwt", birth[, c("low", "age", "lwt", "race", "smoke", "ptd", "ht", "ui", "ftv")])
add_data("quine", within(quine, logdays <- log(Days + 2.5)))
flowers <- iris
names(flowers) <- c("sepal_length", "sepal_width", "petal_length", "petal_width", "species")
add_data("iris", flowers)
add_data("infert", infert[, c("case", "age", "parity", "education", "spontaneous", "induced")])
air <- airquality
names(air) <- c("ozone", "solar", "wind", "temp", "month", "day")
add_data("airquality", air)
add_data("esoph", within(esoph, {
  n <- ncases + ncontrols; share <- ncases / n
  agegp <- factor(agegp, ordered = FALSE); alcgp <- factor(alcgp, ordered = FALSE); tobgp <- factor(tobgp, ordered = FALSE)
})[esoph$ncases + esoph$ncontrols > 0, ])
add_data("npk", npk)
add_data("co2", within(as.data.frame(CO2), Plant <- factor(as.character(Plant), ordered = FALSE)))
add_data("veteran", veteran[, c("time", "status", "trt", "celltype", "karno", "diagtime", "age", "prior")])
add_data("chickweight", within(subset(as.data.frame(ChickWeight), Time %in% c(0, 10, 20)), {
  Chick <- NULL; Diet <- factor(Diet)
}))
shells <- within(snails, {share <- Deaths / N})
names(shells) <- c("species", "exposure", "humidity", "temp", "deaths", "n", "share")
add_data("snails", shells)
add_data("oats", oats)

# The cases

for (direction in c("backward", "both", "forward")) {
  first <- if (direction == "backward") breaks ~ wool * tension else breaks ~ 1
  case(paste0("warpbreaks-", direction, "-aic"), "warpbreaks", first, direction = direction, upper = ~ wool * tension)
  case(paste0("warpbreaks-", direction, "-bic"), "warpbreaks", first, direction = direction, criterion = "bic",
       upper = ~ wool * tension)
  case(paste0("warpbreaks-", direction, "-pvalue"), "warpbreaks", first, direction = direction, criterion = "pvalue",
       upper = ~ wool * tension)
  case(paste0("warpbreaks-poisson-", direction, "-aic"), "warpbreaks", first, "poisson", direction = direction,
       upper = ~ wool * tension)

  first <- if (direction == "backward") mpg ~ (wt + hp + factor(cyl) + factor(am))^2 else mpg ~ 1
  for (criterion in c("aic", "bic", "pvalue"))
    case(paste("mtcars", direction, criterion, sep = "-"), "mtcars", first, direction = direction,
         criterion = criterion, upper = ~ (wt + hp + factor(cyl) + factor(am))^2)

  first <- if (direction == "backward") Days ~ Eth * Sex * Age * Lrn else Days ~ Eth + Sex + Age + Lrn
  for (criterion in c("aic", "bic"))
    case(paste("quine-poisson", direction, criterion, sep = "-"), "quine", first, "poisson", direction = direction,
         criterion = criterion, upper = ~ Eth * Sex * Age * Lrn)
  first <- if (direction == "backward") logdays ~ Eth * Sex * Age * Lrn else logdays ~ 1
  for (criterion in c("aic", "bic", "pvalue"))
    case(paste("quine-log", direction, criterion, sep = "-"), "quine", first, direction = direction,
         criterion = criterion, upper = ~ Eth * Sex * Age * Lrn)

  first <- if (direction == "backward") len ~ supp * dose else len ~ 1
  case(paste0("toothgrowth-numeric-", direction, "-aic"), "toothgrowth", first, direction = direction,
       upper = ~ supp * dose)
  first <- if (direction == "backward") len ~ supp * factor(dose) else len ~ 1
  case(paste0("toothgrowth-factor-", direction, "-aic"), "toothgrowth", first, direction = direction,
       upper = ~ supp * factor(dose))
  first <- if (direction == "backward") len ~ supp * poly(dose, 2) else len ~ 1
  case(paste0("toothgrowth-poly-", direction, "-aic"), "toothgrowth", first, direction = direction,
       upper = ~ supp * poly(dose, 2))

  first <- if (direction == "backward") sepal_length ~ species * (petal_length + petal_width) + sepal_width
           else sepal_length ~ 1
  case(paste0("iris-", direction, "-aic"), "iris", first, direction = direction,
       upper = ~ species * (petal_length + petal_width) + sepal_width)

  first <- if (direction == "backward") Surv(time, status) ~ (trt + celltype + karno + prior)^2
           else Surv(time, status) ~ karno
  for (criterion in c("aic", "bic"))
    case(paste("veteran-cox", direction, criterion, sep = "-"), "veteran", first, "cox", direction = direction,
         criterion = criterion, upper = ~ (trt + celltype + karno + prior)^2)

  first <- if (direction == "backward") share ~ agegp + alcgp * tobgp else share ~ agegp
  case(paste0("esoph-binomial-", direction, "-aic"), "esoph", first, "binomial", direction = direction,
       upper = ~ agegp + alcgp * tobgp, lower = ~ agegp, weights = "n")
}

# Venables and Ripley (2002), section 7.2: low ~ . and all interactions of two
case("birthwt-both-aic", "birthwt", low ~ ., "binomial", upper = ~ .^2)
case("birthwt-scaled-both-aic", "birthwt", low ~ ., "binomial",
     upper = ~ .^2 + I(scale(age)^2) + I(scale(lwt)^2))
case("birthwt-forward-aic", "birthwt", low ~ 1, "binomial", direction = "forward",
     upper = ~ (age + lwt + race + smoke + ptd + ht + ui + ftv)^2)
case("birthwt-both-pvalue", "birthwt", low ~ ., "binomial", criterion = "pvalue", upper = ~ .^2,
     alpha_enter = 0.10, alpha_remove = 0.15)
case("birthwt-both-bic-lower", "birthwt", low ~ ., "binomial", criterion = "bic", upper = ~ .^2, lower = ~ age + lwt)
case("quine-days-both-aic-lower", "quine", logdays ~ Eth + Lrn, lower = ~ Lrn, upper = ~ (Eth + Sex + Age + Lrn)^3)
case("infert-forward-aic", "infert", case ~ 1, "binomial", direction = "forward",
     upper = ~ (age + parity + education + spontaneous + induced)^2)
case("infert-both-aic", "infert", case ~ spontaneous + induced, "binomial",
     upper = ~ (age + parity + education + spontaneous + induced)^2)
case("airquality-both-aic", "airquality", log(ozone) ~ solar + wind + temp,
     upper = ~ (solar + wind + temp)^3)
case("airquality-backward-bic", "airquality", log(ozone) ~ (solar + wind + log(temp) + factor(month))^2,
     direction = "backward", criterion = "bic")
case("snails-both-aic", "snails", share ~ species, "binomial", upper = ~ species * (exposure + humidity + temp)^2,
     weights = "n")
case("chickweight-both-aic", "chickweight", weight ~ Time, upper = ~ Diet * (Time + factor(Time)))
case("oats-both-aic", "oats", Y ~ B, upper = ~ B + V * N, lower = ~ B)
case("oats-backward-aic", "oats", Y ~ B + V * N, direction = "backward", lower = ~ B)
# terms that repeat others: N:P:K is confounded with the blocks; plants are nested in types and treatments
case("npk-backward-aic", "npk", yield ~ block + N * P * K, direction = "backward")
case("npk-both-aic", "npk", yield ~ block, upper = ~ block + N * P * K, lower = ~ block)
case("co2-both-aic", "co2", uptake ~ Type + Treatment + log(conc), upper = ~ Plant + Type * Treatment * log(conc))
case("co2-backward-aic", "co2", uptake ~ Plant + Type * Treatment * log(conc), direction = "backward")
case("co2-nested-backward-aic", "co2", uptake ~ Plant + Type + log(conc) + Type:log(conc), direction = "backward")

case("mtcars-nested-backward-aic", "mtcars", mpg ~ factor(cyl) + size + wt + size:wt, direction = "backward")
case("mtcars-nested-poisson-both-aic", "mtcars", carb ~ factor(cyl) + size + hp + size:hp, "poisson")
case("mtcars-nested-both-pvalue", "mtcars", mpg ~ size, criterion = "pvalue", upper = ~ factor(cyl) * hp + size * wt)
case("mtcars-cells-backward-aic", "mtcars", mpg ~ factor(cyl) * factor(gear) * factor(carb), direction = "backward")
# no intercept
case("mtcars-zero-backward-bic", "mtcars", mpg ~ wt * factor(cyl) + hp - 1, direction = "backward", criterion = "bic",
     lower = ~ 0)
case("mtcars-zero-both-aic", "mtcars", mpg ~ wt - 1, lower = ~ 0, upper = ~ wt * hp * factor(cyl) - 1)

# Models without their margins, and without an intercept

spaces("mtcars-spaces", "mtcars", list(
  mpg ~ factor(cyl):wt, mpg ~ factor(cyl) + factor(cyl):wt, mpg ~ wt + factor(cyl):wt, mpg ~ factor(cyl):factor(am),
  mpg ~ factor(cyl) + factor(cyl):factor(am), mpg ~ wt:hp, mpg ~ wt + wt:hp, mpg ~ factor(cyl):factor(am):wt,
  mpg ~ factor(cyl):wt + factor(am):wt, mpg ~ factor(cyl):wt + factor(am):hp, mpg ~ factor(am) + factor(cyl):factor(am):wt,
  mpg ~ factor(cyl):wt:hp + wt, mpg ~ poly(wt, 2):factor(am), mpg ~ wt + poly(wt, 2):factor(am),
  mpg ~ factor(cyl) - 1, mpg ~ wt - 1, mpg ~ factor(cyl) + factor(am) - 1, mpg ~ factor(cyl):wt - 1,
  mpg ~ wt * factor(cyl) - 1, mpg ~ factor(cyl):factor(am) - 1, mpg ~ wt + factor(cyl):factor(am) - 1,
  mpg ~ poly(wt, 2) - 1, mpg ~ factor(am) + poly(wt, 2) - 1, mpg ~ wt:hp - 1, mpg ~ factor(cyl) + factor(cyl):wt - 1,
  mpg ~ factor(cyl) * factor(gear) * factor(am), mpg ~ factor(cyl) * factor(gear) * factor(carb)))
spaces("quine-spaces", "quine", list(
  Days ~ Age:Lrn, Days ~ Age + Age:Lrn, Days ~ Lrn + Age:Lrn, Days ~ Eth:Age:Lrn, Days ~ Age:Lrn - 1,
  Days ~ Eth + Age:Lrn - 1, Days ~ Age * Lrn - 1, Days ~ Sex + Eth:Age:Lrn, Days ~ Eth:Age + Age:Lrn), "poisson")
