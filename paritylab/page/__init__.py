"""The live page of `paritylab serve`: training watched while it goes on, stores, and the ledger of claims.

It computes nothing that the library does not: runs are plans of `plan_from_names` under an `Observer`, tables are those
of a `Store`, claims are those of the report. It asks nothing of any other machine.
"""
