# What R prints for the examples of docs/coming_from.md. Run in the root of the repository:
#   Rscript docs/reference/coming_from.R
# It writes coming_from_*.txt (what step() prints) and coming_from_r.csv (AIC and BIC of the models) beside itself.
suppressPackageStartupMessages({
  library(MASS)
  library(survival)
})
options(width = 90)
folder <- "docs/reference/"

sink(paste0(folder, "coming_from_numbers.txt"))
# numbers:
prostate <- read.csv("data/prostate.csv")
empty <- lm(lpsa ~ 1, data = prostate)
full <- lm(lpsa ~ ., data = prostate)
numbers <- step(empty, scope = formula(full))
# end
sink()

sink(paste0(folder, "coming_from_factors.txt"))
# factors:
births <- read.csv("data/birthwt.csv", stringsAsFactors = TRUE)
births$race <- relevel(births$race, "white")
logistic <- glm(low ~ ., data = births, family = binomial)
factors <- step(logistic)
# end
sink()

constants <- function(name, model) {
  data.frame(
    model = name, n = nobs(model), extractAIC = extractAIC(model)[2], AIC = AIC(model), BIC = BIC(model),
    logLik = as.numeric(logLik(model))
  )
}
quine <- read.csv("data/quine.csv")
lung <- na.omit(read.csv("data/lung.csv")[c("time", "status", "age", "sex", "ph.ecog")])
models <- list(
  "lm lcavol + lweight + svi" = lm(lpsa ~ lcavol + lweight + svi, prostate),
  "lm all" = full,
  "glm binomial all" = logistic,
  "glm poisson all" = glm(days ~ ., poisson, quine),
  "glm.nb all" = glm.nb(days ~ ., quine),
  "coxph age + sex + ph.ecog" = coxph(Surv(time, status) ~ age + sex + ph.ecog, lung)
)
values <- do.call(rbind, Map(constants, names(models), models))
values[-(1:2)] <- lapply(values[-(1:2)], signif, 12)
write.csv(values, paste0(folder, "coming_from_r.csv"), row.names = FALSE)

# R's own names of the steps, and the coefficients of the chosen models
path <- function(name, model) data.frame(example = name, step = as.character(model$anova$Step), AIC = signif(model$anova$AIC, 12))
write.csv(rbind(path("numbers", numbers), path("factors", factors)), paste0(folder, "coming_from_steps.csv"), row.names = FALSE)
estimates <- function(name, model) data.frame(example = name, term = names(coef(model)), estimate = signif(coef(model), 12))
write.csv(rbind(estimates("numbers", numbers), estimates("factors", factors)), paste0(folder, "coming_from_coefficients.csv"), row.names = FALSE)
said <- tryCatch({
# missing values:
patients <- read.csv("data/lung.csv")
step(coxph(Surv(time, status) ~ age + sex + wt.loss, data = patients), trace = 0)
# end
}, error = conditionMessage)
writeLines(paste("Error:", said), paste0(folder, "coming_from_missing.txt"))

writeLines(paste0("R ", R.version$major, ".", R.version$minor), paste0(folder, "coming_from_version.txt"))
