# The model, and the drop-in libmlx5.so.1 for foreign programs, which forwards to it.
verbs_model(mlx5 libverbs-soft-mlx5.so.1 libmlx5.so.1 steering)
