# The data of uscrime_forward_stepwise.json: UScrime of the R package MASS, as it is.
suppressMessages(library(MASS))
out <- commandArgs(TRUE)[1]
write.csv(UScrime, file.path(out, "uscrime.csv"), row.names = FALSE)
cat(format(summary(lm(y ~ ., UScrime))$sigma, digits = 12), "\n")
