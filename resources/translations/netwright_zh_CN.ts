<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name></name>
    <message>
        <source>Arrange</source>
        <translation>排列</translation>
    </message>
    <message>
        <source>Arrange top-down</source>
        <translation>自上而下排列</translation>
    </message>
    <message>
        <source>Arrange left to right</source>
        <translation>从左到右排列</translation>
    </message>
    <message>
        <source>Arranging {count:,} layers…</source>
        <translation>正在排列 {count:,} 个层…</translation>
    </message>
    <message>
        <source>The network could not be arranged: the process that does it ended too early.</source>
        <translation>无法排列该网络：执行排列的进程提前结束了。</translation>
    </message>
    <message>
        <source>The network has changed meanwhile: it was not arranged.</source>
        <translation>网络在此期间已发生更改，因此未排列。</translation>
    </message>
    <message>
        <source>Align left</source>
        <translation>左对齐</translation>
    </message>
    <message>
        <source>Align centre</source>
        <translation>水平居中对齐</translation>
    </message>
    <message>
        <source>Align right</source>
        <translation>右对齐</translation>
    </message>
    <message>
        <source>Align top</source>
        <translation>顶端对齐</translation>
    </message>
    <message>
        <source>Align middle</source>
        <translation>垂直居中对齐</translation>
    </message>
    <message>
        <source>Align bottom</source>
        <translation>底端对齐</translation>
    </message>
    <message>
        <source>Distribute horizontally</source>
        <translation>水平分布</translation>
    </message>
    <message>
        <source>Distribute vertically</source>
        <translation>垂直分布</translation>
    </message>
    <message>
        <source>Arrange selection</source>
        <translation>排列所选内容</translation>
    </message>
    <message>
        <source>Align</source>
        <translation>对齐</translation>
    </message>
    <message>
        <source>Add a comment</source>
        <translation>添加注释</translation>
    </message>
    <message>
        <source>Frame selection</source>
        <translation>为所选内容加框</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>灰色</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>蓝色</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>绿色</translation>
    </message>
    <message>
        <source>Yellow</source>
        <translation>黄色</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>橙色</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>红色</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>紫色</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Replace with…</source>
        <translation>替换为…</translation>
    </message>
    <message>
        <source>Stop bypassing</source>
        <translation>取消旁路</translation>
    </message>
    <message>
        <source>Bypass</source>
        <translation>旁路</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>剪切</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>创建副本</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>断开连接</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>配置文件</translation>
    </message>
    <message>
        <source>Job</source>
        <translation>作业</translation>
    </message>
    <message>
        <source>Coordinator</source>
        <translation>协调进程</translation>
    </message>
    <message>
        <source>Submitted</source>
        <translation>提交时间</translation>
    </message>
    <message>
        <source>The run is asked to stop.</source>
        <translation>已请求停止该运行。</translation>
    </message>
    <message>
        <source>Its coordinator on this machine is gone. Resume goes on from the last checkpoint, if it has saved one.</source>
        <translation>本机上的协调进程已不存在。如果已保存检查点，“继续”将从最后一个检查点接着训练。</translation>
    </message>
    <message>
        <source>No run is on a cluster. Choose the execution environment parallel, and a profile, in the Training Options.</source>
        <translation>集群上没有运行。请在训练选项中选择并行执行环境和一个配置文件。</translation>
    </message>
    <message>
        <source>Jobs on clusters</source>
        <translation>集群上的作业</translation>
    </message>
    <message>
        <source>Jobs</source>
        <translation>作业</translation>
    </message>
    <message>
        <source>About the selected job</source>
        <translation>关于所选作业</translation>
    </message>
    <message>
        <source>Fetch</source>
        <translation>获取</translation>
    </message>
    <message>
        <source>Channels: smaller layers</source>
        <translation>通道：缩小层</translation>
    </message>
    <message>
        <source>Weights: the smallest become zero</source>
        <translation>权重：最小的变为零</translation>
    </message>
    <message>
        <source>Prune</source>
        <translation>剪枝</translation>
    </message>
    <message>
        <source>What is removed</source>
        <translation>移除的内容</translation>
    </message>
    <message>
        <source>Amounts</source>
        <translation>剪枝量</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Create project…</source>
        <translation>创建工程…</translation>
    </message>
    <message>
        <source>A project with the network of the selected row, to be trained on</source>
        <translation>包含所选行网络的工程，可继续训练</translation>
    </message>
    <message>
        <source>{run}, without</source>
        <translation>{run}，移除</translation>
    </message>
    <message>
        <source>Score and size</source>
        <translation>分数和大小</translation>
    </message>
    <message>
        <source>before training on</source>
        <translation>继续训练之前</translation>
    </message>
    <message>
        <source>Measuring accuracy, size and time…</source>
        <translation>正在测量准确度、大小和时间…</translation>
    </message>
    <message>
        <source>Amount</source>
        <translation>剪枝量</translation>
    </message>
    <message>
        <source>Not zero</source>
        <translation>非零</translation>
    </message>
    <message>
        <source>Time per batch</source>
        <translation>每批量时间</translation>
    </message>
    <message>
        <source>{time} ms</source>
        <translation>{time} 毫秒</translation>
    </message>
    <message>
        <source>Measured on the {split}, before training on.</source>
        <translation>在{split}上测量，继续训练之前。</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>创建工程</translation>
    </message>
    <message>
        <source>Projects (*{suffix})</source>
        <translation>工程 (*{suffix})</translation>
    </message>
    <message>
        <source>Writing the project…</source>
        <translation>正在写入工程…</translation>
    </message>
    <message>
        <source>Curves, log and results</source>
        <translation>曲线、日志和结果</translation>
    </message>
    <message>
        <source>Ask the run to stop; what it has learned is kept</source>
        <translation>请求停止该运行；已学到的内容会保留</translation>
    </message>
    <message>
        <source>Bring its weights and results here now, also while it trains</source>
        <translation>立即将其权重和结果取到本机，训练期间也可以</translation>
    </message>
    <message>
        <source>End the job and delete its files on the cluster</source>
        <translation>结束作业并删除其在集群上的文件</translation>
    </message>
    <message>
        <source>Fetching…</source>
        <translation>正在获取…</translation>
    </message>
    <message>
        <source>Fetched.</source>
        <translation>已获取。</translation>
    </message>
    <message>
        <source>Stop the run and take it off this list? Its folder here stays.</source>
        <translation>停止该运行并将其从此列表中移除？其本机文件夹会保留。</translation>
    </message>
    <message>
        <source>End the job and delete its files in {folder}? The run here keeps what was fetched.</source>
        <translation>结束作业并删除其在 {folder} 中的文件？本机上的运行会保留已获取的内容。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete the job</source>
        <translation>删除作业</translation>
    </message>
    <message>
        <source>Deleting…</source>
        <translation>正在删除…</translation>
    </message>
    <message>
        <source>Deleted.</source>
        <translation>已删除。</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>It waits in its queue.</source>
        <translation>正在队列中等待。</translation>
    </message>
    <message>
        <source>Slurm says: {reason}.</source>
        <translation>Slurm 报告：{reason}。</translation>
    </message>
    <message>
        <source>Files: {host}, {place}</source>
        <translation>文件：{host}，{place}</translation>
    </message>
    <message>
        <source>waits: {reason}</source>
        <translation>等待：{reason}</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>{state}, not connected</source>
        <translation>{state}，未连接</translation>
    </message>
    <message>
        <source>Delete without reconnecting</source>
        <translation>删除且不重新连接</translation>
    </message>
    <message>
        <source>Stage</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Stage {number}</source>
        <translation>阶段 {number}</translation>
    </message>
    <message>
        <source>New stage {number}</source>
        <translation>新阶段 {number}</translation>
    </message>
    <message>
        <source>Open block</source>
        <translation>打开模块</translation>
    </message>
    <message>
        <source>Save to my blocks…</source>
        <translation>保存到我的模块…</translation>
    </message>
    <message>
        <source>Group into a block</source>
        <translation>组合成模块</translation>
    </message>
    <message>
        <source>Ungroup</source>
        <translation>取消组合</translation>
    </message>
    <message>
        <source>Edit title</source>
        <translation>编辑标题</translation>
    </message>
    <message>
        <source>Edit text</source>
        <translation>编辑文本</translation>
    </message>
    <message>
        <source>Colour</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>Bring to front</source>
        <translation>置于顶层</translation>
    </message>
    <message>
        <source>Send to back</source>
        <translation>置于底层</translation>
    </message>
    <message>
        <source>Select the layers in it</source>
        <translation>选择其中的层</translation>
    </message>
    <message>
        <source>Change colour</source>
        <translation>更改颜色</translation>
    </message>
    <message>
        <source>Go to {name}</source>
        <translation>转到 {name}</translation>
    </message>
    <message>
        <source>Add a layer…</source>
        <translation>添加层…</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>粘贴</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
    <message>
        <source>Fit to window</source>
        <translation>适应窗口</translation>
    </message>
    <message>
        <source>Leave block</source>
        <translation>退出模块</translation>
    </message>
    <message>
        <source>None found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Name, type, size, problem</source>
        <translation>名称、类型、大小、问题</translation>
    </message>
    <message>
        <source>Find a layer</source>
        <translation>查找层</translation>
    </message>
    <message>
        <source>Previous (Shift+Enter)</source>
        <translation>上一个 (Shift+Enter)</translation>
    </message>
    <message>
        <source>Next (Enter or F3)</source>
        <translation>下一个 (Enter 或 F3)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭 (Esc)</translation>
    </message>
    <message>
        <source>{number:,} of {total:,}</source>
        <translation>第 {number:,} 个，共 {total:,} 个</translation>
    </message>
    <message>
        <source>{total:,} found</source>
        <translation>找到 {total:,} 个</translation>
    </message>
    <message>
        <source>{total:,} in blocks</source>
        <translation>模块内有 {total:,} 个</translation>
    </message>
    <message>
        <source>{total:,} outside</source>
        <translation>外部有 {total:,} 个</translation>
    </message>
    <message>
        <source>{total:,} in {block}</source>
        <translation>{block} 内有 {total:,} 个</translation>
    </message>
    <message>
        <source>Arrow keys go along the connections, the first one to the first layer; N goes to the next layer, Shift+N to the one before, Tab leaves the canvas. Enter edits, F2 renames, C connects, A adds a layer, Del removes. Alt with Down opens a block, Alt with Up leaves it. 1 to 7 choose a lens; while stages of a pipeline are shown, 1 to 9 move the selection into one. Ctrl with an arrow key moves the selection. Frames and comments follow the layers: Enter edits their text, Alt and Shift with an arrow key changes their size, the menu key offers colours.</source>
        <translation>方向键沿连接移动，首次按下时转到第一层；N 转到下一层，Shift+N 转到上一层，Tab 离开画布。Enter 编辑，F2 重命名，C 连接，A 添加层，Del 删除。Alt+向下键打开模块，Alt+向上键退出模块。1 到 7 选择视角；显示流水线阶段时，1 到 9 将所选内容移入相应阶段。Ctrl+方向键移动所选内容。框和注释排在层之后：Enter 编辑其文本，Alt+Shift+方向键更改其大小，菜单键提供颜色。</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>框</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>注释</translation>
    </message>
    <message>
        <source>without a title</source>
        <translation>无标题</translation>
    </message>
    <message>
        <source>norm</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>pool</source>
        <translation>池化</translation>
    </message>
    <message>
        <source>Make a network</source>
        <translation>创建网络</translation>
    </message>
    <message>
        <source>A small residual network</source>
        <translation>小型残差网络</translation>
    </message>
    <message>
        <source>A convolutional network</source>
        <translation>卷积网络</translation>
    </message>
    <message>
        <source>Fully connected layers</source>
        <translation>全连接层</translation>
    </message>
    <message>
        <source>Averaged words and convolutions over them</source>
        <translation>平均词向量及其上的卷积</translation>
    </message>
    <message>
        <source>An LSTM</source>
        <translation>LSTM</translation>
    </message>
    <message>
        <source>A bidirectional LSTM</source>
        <translation>双向 LSTM</translation>
    </message>
    <message>
        <source>A forecast of the change from the last value</source>
        <translation>对相对最后一个值的变化的预测</translation>
    </message>
    <message>
        <source>A small U-Net</source>
        <translation>小型 U-Net</translation>
    </message>
    <message>
        <source>Convolutions</source>
        <translation>卷积</translation>
    </message>
    <message numerus="yes">
        <source>%n more row(s)</source>
        <translation>
            <numerusform>还有 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Small network</source>
        <translation>小型网络</translation>
    </message>
    <message>
        <source>Proposed network</source>
        <translation>建议的网络</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>尚无</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation>
            <numerusform>%n 个层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n parameter(s)</source>
        <translation>
            <numerusform>%n 个参数</numerusform>
        </translation>
    </message>
    <message>
        <source>No network is proposed for data of this kind. Draw one, or begin with a template.</source>
        <translation>没有针对此类数据的建议网络。请自行绘制，或从模板开始。</translation>
    </message>
    <message>
        <source>Show the network</source>
        <translation>显示网络</translation>
    </message>
    <message>
        <source>Start empty</source>
        <translation>从空白开始</translation>
    </message>
    <message>
        <source>Move</source>
        <translation>移动</translation>
    </message>
    <message>
        <source>Resize frame</source>
        <translation>调整框的大小</translation>
    </message>
    <message>
        <source>Resize comment</source>
        <translation>调整注释的大小</translation>
    </message>
    <message>
        <source>Select the layer that the connection is to leave, then press C.</source>
        <translation>请选择连接的起始层，然后按 C。</translation>
    </message>
    <message>
        <source>{name} has no output to connect.</source>
        <translation>{name} 没有可连接的输出。</translation>
    </message>
    <message>
        <source>Not used: the execution environment is {target}.</source>
        <translation>未使用：执行环境为 {target}。</translation>
    </message>
    <message>
        <source>Not used: the strategy is {strategy}.</source>
        <translation>未使用：并行策略为 {strategy}。</translation>
    </message>
    <message>
        <source>Balance</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>By work</source>
        <translation>按计算量</translation>
    </message>
    <message>
        <source>By memory</source>
        <translation>按内存</translation>
    </message>
    <message>
        <source>Balance the stages by work or by memory, and keep the result</source>
        <translation>按计算量或内存均衡各阶段，并保留结果</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Discard stages set by hand: they are balanced by work when a run begins</source>
        <translation>放弃手动设置的阶段：运行开始时将按计算量均衡</translation>
    </message>
    <message>
        <source>Use a pipeline</source>
        <translation>使用流水线</translation>
    </message>
    <message>
        <source>Choose the pipeline strategy, so that a run has these stages</source>
        <translation>选择流水线策略，使运行采用这些阶段</translation>
    </message>
    <message>
        <source>Read in {channels}, resized to {image_size}, classes from {inner_folders}, split {split}, augmented by {augmented}</source>
        <translation>以 {channels} 读取，大小调整为 {image_size}，类别取自 {inner_folders}，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Read in {channels}, resized to {image_size}, targets from {label_column}, split {split}, augmented by {augmented}</source>
        <translation>以 {channels} 读取，大小调整为 {image_size}，目标取自 {label_column}，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Read in {channels}, resized to {image_size}, masks from {masks}, split {split}, augmented by {augmented}</source>
        <translation>以 {channels} 读取，大小调整为 {image_size}，掩码取自 {masks}，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Read in {channels}, resized to {image_size}, targets from {target_images}, split {split}, augmented by {augmented}</source>
        <translation>以 {channels} 读取，大小调整为 {image_size}，目标取自 {target_images}，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Predict {response} from {left_out}, missing values {missing_values}, dates as {dates}, split {split}</source>
        <translation>根据 {left_out} 预测 {response}，缺失值的处理为 {missing_values}，日期读取为 {dates}，拆分方式为 {split}</translation>
    </message>
    <message>
        <source>Forecast {response} for {horizon} from the last {lags}, in the order of {time_column}, one series per {group_column}, split {split}</source>
        <translation>根据最近 {lags} 预测 {response} 在之后 {horizon} 的值，按 {time_column} 的顺序，每个 {group_column} 为一个序列，拆分方式为 {split}</translation>
    </message>
    <message>
        <source>Predict {response} per {response_per}, in the order of {time_column}, split {split}, augmented by {augmented}</source>
        <translation>对每个 {response_per} 预测 {response}，按 {time_column} 的顺序，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Learn {text_goal} from {tokens}, of each text at most {longest_text}, split {split}</source>
        <translation>从 {tokens} 学习 {text_goal}，每段文本最多 {longest_text}，拆分方式为 {split}</translation>
    </message>
    <message>
        <source>Learn {text_goal} from {tokens}, in {text_samples} of {block_length}, split {split}</source>
        <translation>从 {tokens} 学习 {text_goal}，样本为 {block_length} 的 {text_samples}，拆分方式为 {split}</translation>
    </message>
    <message>
        <source>Read as {sound_features} in {sound_channels}, predict {response}, split {split}, augmented by {augmented}</source>
        <translation>以 {sound_channels} 读取为 {sound_features}，预测 {response}，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Predict {response}, split {split}, augmented by {augmented}</source>
        <translation>预测 {response}，拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>Split {split}, augmented by {augmented}</source>
        <translation>拆分方式为 {split}，数据增强为 {augmented}</translation>
    </message>
    <message>
        <source>the last column</source>
        <translation>最后一列</translation>
    </message>
    <message>
        <source>all other columns</source>
        <translation>所有其他列</translation>
    </message>
    <message>
        <source>the rows</source>
        <translation>各行</translation>
    </message>
    <message>
        <source>file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>the table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>The random changes of training, among the training options</source>
        <translation>训练时的随机变化，位于训练选项中</translation>
    </message>
    <message>
        <source>Other…</source>
        <translation>其他…</translation>
    </message>
    <message>
        <source>grey</source>
        <translation>灰度</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>彩色</translation>
    </message>
    <message>
        <source>folder names</source>
        <translation>文件夹名称</translation>
    </message>
    <message>
        <source>outer folder names</source>
        <translation>外层文件夹名称</translation>
    </message>
    <message>
        <source>folder paths</source>
        <translation>文件夹路径</translation>
    </message>
    <message>
        <source>the folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>all but {columns}</source>
        <translation>除 {columns} 外的所有列</translation>
    </message>
    <message>
        <source>fold {fold} of {folds}</source>
        <translation>第 {fold} 折，共 {folds} 折</translation>
    </message>
    <message>
        <source>{shares} at random</source>
        <translation>{shares} 随机</translation>
    </message>
    <message>
        <source>{shares} by groups of {column}</source>
        <translation>{shares} 按 {column} 分组</translation>
    </message>
    <message>
        <source>{shares} in order of time</source>
        <translation>{shares} 按时间顺序</translation>
    </message>
    <message>
        <source>by the column {column}</source>
        <translation>按列 {column}</translation>
    </message>
    <message>
        <source>by folders</source>
        <translation>按文件夹</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message numerus="yes">
        <source>%n change(s)</source>
        <translation>
            <numerusform>%n 项变化</numerusform>
        </translation>
    </message>
    <message>
        <source>All but {column}</source>
        <translation>除 {column} 外的所有列</translation>
    </message>
    <message>
        <source>The most frequent size</source>
        <translation>最常见的大小</translation>
    </message>
    <message>
        <source>by hand</source>
        <translation>手动</translation>
    </message>
    <message numerus="yes">
        <source>And %n stage(s) more.</source>
        <translation>
            <numerusform>还有 %n 个阶段。</numerusform>
        </translation>
    </message>
    <message>
        <source>Keys 1 to 9 move what is selected.</source>
        <translation>按键 1 到 9 可移动所选内容。</translation>
    </message>
    <message>
        <source>no layer</source>
        <translation>没有层</translation>
    </message>
    <message>
        <source>{share} of work, {memory}</source>
        <translation>计算量的 {share}，{memory}</translation>
    </message>
    <message>
        <source>Share of the floating-point operations, and memory of the worker in training, about</source>
        <translation>浮点运算所占的比例，以及该工作单元训练所需的大致内存</translation>
    </message>
    <message>
        <source>{targets} per step</source>
        <translation>每个时间步 {targets}</translation>
    </message>
    <message>
        <source>{targets} per pixel</source>
        <translation>每个像素 {targets}</translation>
    </message>
    <message>
        <source>{targets} per voxel</source>
        <translation>每个体素 {targets}</translation>
    </message>
    <message>
        <source>{samples} of {columns}</source>
        <translation>{columns} 的 {samples}</translation>
    </message>
    <message>
        <source>{samples} with {count} targets</source>
        <translation>{samples}，{count} 个目标</translation>
    </message>
    <message>
        <source>{samples} in {count:,} classes</source>
        <translation>{samples}，分为 {count:,} 个类别</translation>
    </message>
    <message>
        <source>{samples} with {targets} to predict</source>
        <translation>{samples}，预测 {targets}</translation>
    </message>
    <message>
        <source>{size} in memory</source>
        <translation>内存中 {size}</translation>
    </message>
    <message numerus="yes">
        <source>%n image(s)</source>
        <translation>
            <numerusform>%n 幅图像</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n window(s)</source>
        <translation>
            <numerusform>%n 个窗</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sequence(s)</source>
        <translation>
            <numerusform>%n 个序列</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n text(s)</source>
        <translation>
            <numerusform>%n 段文本</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sound(s)</source>
        <translation>
            <numerusform>%n 段声音</numerusform>
        </translation>
    </message>
    <message>
        <source>bright: supports the class</source>
        <translation>亮：支持该类别</translation>
    </message>
    <message>
        <source>red: supports the class; blue: speaks against it</source>
        <translation>红：支持该类别；蓝：反对该类别</translation>
    </message>
    <message>
        <source>red: the score falls without it; blue: it rises</source>
        <translation>红：缺少时分数下降；蓝：缺少时分数上升</translation>
    </message>
    <message>
        <source>Mean answer by {name}</source>
        <translation>按 {name} 的平均答案</translation>
    </message>
    <message>
        <source>Opacity of the heat map</source>
        <translation>热图的不透明度</translation>
    </message>
    <message>
        <source>Opacity</source>
        <translation>不透明度</translation>
    </message>
    <message>
        <source>{count:,} of {total:,} samples</source>
        <translation>{total:,} 个样本中的 {count:,} 个</translation>
    </message>
    <message>
        <source>layer {name}</source>
        <translation>层 {name}</translation>
    </message>
    <message>
        <source>{share} of the variance</source>
        <translation>方差的 {share}</translation>
    </message>
    <message>
        <source>{method} of the samples</source>
        <translation>样本的 {method}</translation>
    </message>
    <message>
        <source>, </source>
        <comment>between facts</comment>
        <translation>，</translation>
    </message>
    <message>
        <source>{method} for {target}</source>
        <translation>针对 {target} 的{method}</translation>
    </message>
    <message>
        <source>what each column adds, compared with the {baseline}</source>
        <translation>每列的贡献，与 {baseline} 相比</translation>
    </message>
    <message>
        <source>what each column adds</source>
        <translation>每列的贡献</translation>
    </message>
    <message>
        <source>channels by steps</source>
        <translation>通道 × 时间步</translation>
    </message>
    <message>
        <source>all filters</source>
        <translation>所有滤波器</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>值</translation>
    </message>
    <message>
        <source>this sample</source>
        <translation>此样本</translation>
    </message>
    <message>
        <source>Values over samples</source>
        <translation>各样本的值</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n 个样本</numerusform>
        </translation>
    </message>
    <message>
        <source>values</source>
        <translation>个值</translation>
    </message>
    <message>
        <source>the whole input</source>
        <translation>整个输入</translation>
    </message>
    <message>
        <source>receptive field {sizes}</source>
        <translation>感受野 {sizes}</translation>
    </message>
    <message>
        <source>Activations of {layer}</source>
        <translation>{layer} 的激活值</translation>
    </message>
    <message>
        <source>{share} zeros</source>
        <translation>{share} 为零</translation>
    </message>
    <message>
        <source>{count:,} channels</source>
        <translation>{count:,} 个通道</translation>
    </message>
    <message>
        <source>{count} channels are 0 for all samples</source>
        <translation>{count} 个通道对所有样本都为 0</translation>
    </message>
    <message>
        <source>{note}; channels by steps</source>
        <translation>{note}；通道 × 时间步</translation>
    </message>
    <message>
        <source>channel {number}</source>
        <translation>通道 {number}</translation>
    </message>
    <message>
        <source>{filters:,} filters over {channels:,} channels, {reach}</source>
        <translation>{filters:,} 个滤波器，作用于 {channels:,} 个通道，{reach}</translation>
    </message>
    <message>
        <source>Filters of {layer}</source>
        <translation>{layer} 的滤波器</translation>
    </message>
    <message>
        <source>images that the channels of {layer} answer to most strongly, and the score or activation that they reach</source>
        <translation>使 {layer} 的通道响应最强的图像，及其达到的分数或激活值</translation>
    </message>
    <message>
        <source>images that the classes answer to most strongly, and the score or activation that they reach</source>
        <translation>使各类别响应最强的图像，及其达到的分数或激活值</translation>
    </message>
    <message>
        <source>how much the RMSE rises where a column is shuffled</source>
        <translation>打乱某一列时 RMSE 上升多少</translation>
    </message>
    <message>
        <source>how much the accuracy falls where a column is shuffled</source>
        <translation>打乱某一列时准确度下降多少</translation>
    </message>
    <message>
        <source>{count:,} samples, {times} times</source>
        <translation>{count:,} 个样本，{times} 次</translation>
    </message>
    <message>
        <source>the answers</source>
        <translation>答案</translation>
    </message>
    <message>
        <source>mean of {subject}, which moves by {spread}</source>
        <translation>{subject} 的均值，变化幅度为 {spread}</translation>
    </message>
    <message>
        <source>mean of {subject}</source>
        <translation>{subject} 的均值</translation>
    </message>
    <message>
        <source>head {number}</source>
        <translation>头 {number}</translation>
    </message>
    <message>
        <source>{rows:,} steps (rows) take from {columns:,} (columns)</source>
        <translation>{rows:,} 个时间步（行）从 {columns:,} 个时间步（列）获取信息</translation>
    </message>
    <message>
        <source>Attention of {layer}</source>
        <translation>{layer} 的注意力</translation>
    </message>
    <message>
        <source>Sample {place:,} of the {split}</source>
        <translation>{split}的样本 {place:,}</translation>
    </message>
    <message>
        <source>{sample}, labelled {label}</source>
        <translation>{sample}，标签为 {label}</translation>
    </message>
    <message>
        <source>{sample}. Answer: {answer}.</source>
        <translation>{sample}。答案：{answer}。</translation>
    </message>
    <message>
        <source>transcripts of {count:,} classes</source>
        <translation>{count:,} 个类别的转录文本</translation>
    </message>
    <message numerus="yes">
        <source>%n channel(s)</source>
        <translation>
            <numerusform>%n 个通道</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n class(es)</source>
        <translation>
            <numerusform>%n 个类别</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n feature(s)</source>
        <translation>
            <numerusform>%n 个特征</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation>
            <numerusform>%n 个组</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n head(s)</source>
        <translation>
            <numerusform>%n 个头</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n input(s)</source>
        <translation>
            <numerusform>%n 个输入</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n level(s)</source>
        <translation>
            <numerusform>%n 级</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n output(s)</source>
        <translation>
            <numerusform>%n 个输出</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n position(s)</source>
        <translation>
            <numerusform>%n 个位置</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n scale(s)</source>
        <translation>
            <numerusform>%n 个尺度</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n slice(s)</source>
        <translation>
            <numerusform>%n 个切片</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n 步</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n unit(s)</source>
        <translation>
            <numerusform>%n 个单元</numerusform>
        </translation>
    </message>
    <message>
        <source>along {axis}</source>
        <translation>沿 {axis}</translation>
    </message>
    <message>
        <source>{n} parts along {axis}</source>
        <translation>沿 {axis} 分为 {n} 份</translation>
    </message>
    <message>
        <source>{n} times along {axis}</source>
        <translation>沿 {axis} 重复 {n} 次</translation>
    </message>
    <message>
        <source>{shift} along {axis}</source>
        <translation>沿 {axis} 移动 {shift}</translation>
    </message>
    <message>
        <source>up to {limit}</source>
        <translation>至多 {limit}</translation>
    </message>
    <message>
        <source>above {limit}</source>
        <translation>大于 {limit}</translation>
    </message>
    <message>
        <source>{n} + {m} layers</source>
        <translation>{n} + {m} 个层</translation>
    </message>
    <message>
        <source>{n} steps of {method}</source>
        <translation>{method} 的 {n} 步</translation>
    </message>
    <message>
        <source>{n} bits, {scale}</source>
        <translation>{n} 位，{scale}</translation>
    </message>
    <message>
        <source>{n} from the start</source>
        <translation>从开头起第 {n} 个</translation>
    </message>
    <message>
        <source>{n} from the end</source>
        <translation>从末尾起第 {n} 个</translation>
    </message>
    <message>
        <source>{reduction} over {axis}</source>
        <translation>在 {axis} 上取 {reduction}</translation>
    </message>
    <message>
        <source>channel-wise</source>
        <translation>逐通道</translation>
    </message>
    <message>
        <source>to numbers</source>
        <translation>转换为数字</translation>
    </message>
    <message>
        <source>to indices</source>
        <translation>转换为索引</translation>
    </message>
    <message>
        <source>places</source>
        <translation>各位置</translation>
    </message>
    <message>
        <source>zeros</source>
        <translation>零</translation>
    </message>
    <message>
        <source>constant</source>
        <translation>常数</translation>
    </message>
    <message>
        <source>reflection</source>
        <translation>反射</translation>
    </message>
    <message>
        <source>replication</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>circular</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>first</source>
        <translation>第一个</translation>
    </message>
    <message>
        <source>last</source>
        <translation>最后一个</translation>
    </message>
    <message>
        <source>columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>positions</source>
        <translation>各位置</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>sum</source>
        <translation>总和</translation>
    </message>
    <message>
        <source>max</source>
        <translation>最大值</translation>
    </message>
    <message>
        <source>variance</source>
        <translation>方差</translation>
    </message>
    <message numerus="yes">
        <source>%n label(s)</source>
        <translation>
            <numerusform>%n 个标签</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n number(s)</source>
        <translation>
            <numerusform>%n 个数值</numerusform>
        </translation>
    </message>
    <message>
        <source>{size} inputs</source>
        <translation>{size} 个输入</translation>
    </message>
    <message>
        <source>{size} tokens</source>
        <translation>{size} 个词元</translation>
    </message>
    <message>
        <source>{size} grey</source>
        <translation>{size} 灰度</translation>
    </message>
    <message>
        <source>{size} in colour</source>
        <translation>{size} 彩色</translation>
    </message>
    <message>
        <source>{size} {count} channels</source>
        <translation>{size} {count} 个通道</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>更改…</translation>
    </message>
    <message>
        <source>Choose other data…</source>
        <translation>选择其他数据…</translation>
    </message>
    <message>
        <source>Choose other data</source>
        <translation>选择其他数据</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>重新加载</translation>
    </message>
    <message>
        <source>Look at the files anew</source>
        <translation>重新查看文件</translation>
    </message>
    <message>
        <source>All settings</source>
        <translation>全部设置</translation>
    </message>
    <message>
        <source>Show every option of the data beside the samples</source>
        <translation>在样本旁显示数据的所有选项</translation>
    </message>
    <message>
        <source>{changed} of {count} changed</source>
        <translation>已更改 {count} 项中的 {changed} 项</translation>
    </message>
    <message>
        <source>Layers with a lock keep their weights while the network trains</source>
        <translation>带锁的层在网络训练时保持权重不变</translation>
    </message>
    <message>
        <source>{mark} vanishes</source>
        <translation>{mark} 消失</translation>
    </message>
    <message>
        <source>healthy</source>
        <translation>健康</translation>
    </message>
    <message>
        <source>broken {mark}</source>
        <translation>损坏 {mark}</translation>
    </message>
    <message>
        <source>Frozen</source>
        <translation>已冻结</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) frozen</source>
        <translation>
            <numerusform>冻结了 %n 个层</numerusform>
        </translation>
    </message>
    <message>
        <source>forward and backward, per step</source>
        <translation>每步的前向与反向传播</translation>
    </message>
    <message>
        <source>of each layer</source>
        <translation>每层</translation>
    </message>
    <message>
        <source>gradient, of the largest</source>
        <translation>梯度，相对于最大值</translation>
    </message>
    <message>
        <source>each layer by itself</source>
        <translation>每层各自计算</translation>
    </message>
    <message>
        <source>lowest</source>
        <translation>最低</translation>
    </message>
    <message>
        <source>highest</source>
        <translation>最高</translation>
    </message>
    <message>
        <source>{healthy:,} healthy · {doubtful:,} to look at</source>
        <translation>{healthy:,} 个健康 · {doubtful:,} 个需要查看</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一个</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>视角</translation>
    </message>
    <message>
        <source>Sample before</source>
        <translation>上一个样本</translation>
    </message>
    <message>
        <source>Next sample</source>
        <translation>下一个样本</translation>
    </message>
    <message>
        <source>Overview: click to go there</source>
        <translation>概览：单击以转到该处</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>实际大小</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应</translation>
    </message>
    <message>
        <source>Show the whole network (F)</source>
        <translation>显示整个网络 (F)</translation>
    </message>
    <message>
        <source>Make a first network</source>
        <translation>创建第一个网络</translation>
    </message>
    <message>
        <source>Start from an example</source>
        <translation>从示例开始</translation>
    </message>
    <message>
        <source>Add an image input</source>
        <translation>添加图像输入</translation>
    </message>
    <message>
        <source>Start with a network for the data</source>
        <translation>从适合数据的网络开始</translation>
    </message>
    <message>
        <source>Drag an image input here</source>
        <translation>将图像输入拖到此处</translation>
    </message>
    <message>
        <source>Layers are in the library on the left. Connect them by dragging from port to port.</source>
        <translation>层位于左侧的库中。从一个端口拖到另一个端口即可连接。</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Check the data</source>
        <translation>检查数据</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>再次检查</translation>
    </message>
    <message>
        <source>Find suspicious labels</source>
        <translation>查找可疑标签</translation>
    </message>
    <message>
        <source>The data cannot be read as it is</source>
        <translation>无法按现状读取数据</translation>
    </message>
    <message>
        <source>Drop rows</source>
        <translation>删除这些行</translation>
    </message>
    <message>
        <source>Leave out the column</source>
        <translation>排除该列</translation>
    </message>
    <message>
        <source>Leave out the columns</source>
        <translation>排除这些列</translation>
    </message>
    <message>
        <source>Checks</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Look for samples whose label similar samples contradict; it takes longer</source>
        <translation>查找标签与相似样本相矛盾的样本；耗时较长</translation>
    </message>
    <message>
        <source>This much data is not checked unless you ask for it: all of it is read.</source>
        <translation>数据量较大，仅在您要求时才检查：检查会读取全部数据。</translation>
    </message>
    <message>
        <source>Checking the samples…</source>
        <translation>正在检查样本…</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) checked</source>
        <translation>
            <numerusform>已检查 %n 个样本</numerusform>
        </translation>
    </message>
    <message>
        <source>The check was cancelled.</source>
        <translation>检查已取消。</translation>
    </message>
    <message>
        <source>Checking the samples: {progress}</source>
        <translation>正在检查样本：{progress}</translation>
    </message>
    <message>
        <source>Show {count:,} more</source>
        <translation>再显示 {count:,} 项</translation>
    </message>
    <message>
        <source>and {count:,} more</source>
        <translation>还有 {count:,} 项</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) checked.</source>
        <translation>
            <numerusform>已检查 %n 个样本。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) of {total:,}, evenly spaced, checked.</source>
        <translation>
            <numerusform>已在 {total:,} 个样本中均匀抽取 %n 个进行检查。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) passed.</source>
        <translation>
            <numerusform>%n 项检查通过。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n finding(s).</source>
        <translation>
            <numerusform>%n 项发现。</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>未发现问题。</translation>
    </message>
    <message>
        <source>Leave everything as it is (Esc)</source>
        <translation>保持一切不变 (Esc)</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message numerus="yes">
        <source>shared by %n copies</source>
        <translation>
            <numerusform>由 %n 个副本共享</numerusform>
        </translation>
    </message>
    <message>
        <source>Go back to {name}</source>
        <translation>返回 {name}</translation>
    </message>
    <message>
        <source>Insert a layer…</source>
        <translation>插入层…</translation>
    </message>
    <message>
        <source>Add a layer after {name}…</source>
        <translation>在 {name} 之后添加层…</translation>
    </message>
    <message>
        <source>Feed {name} from…</source>
        <translation>为 {name} 选择输入来源…</translation>
    </message>
    <message>
        <source>Connect {name} to…</source>
        <translation>将 {name} 连接到…</translation>
    </message>
    <message>
        <source>Replace {name} with…</source>
        <translation>将 {name} 替换为…</translation>
    </message>
    <message>
        <source>No layer matches “{text}”.</source>
        <translation>没有与“{text}”匹配的层。</translation>
    </message>
    <message>
        <source>Fits here</source>
        <translation>适合此处</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>不适合</translation>
    </message>
    <message>
        <source>Change title</source>
        <translation>更改标题</translation>
    </message>
    <message>
        <source>Change comment</source>
        <translation>更改注释</translation>
    </message>
    <message>
        <source>Title of the frame</source>
        <translation>框的标题</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>Text of the comment</source>
        <translation>注释的文本</translation>
    </message>
    <message>
        <source>Name of the layer</source>
        <translation>层的名称</translation>
    </message>
    <message>
        <source>Network canvas</source>
        <translation>网络画布</translation>
    </message>
    <message>
        <source>Input &apos;{port}&apos; of {layer}</source>
        <translation>{layer} 的输入“{port}”</translation>
    </message>
    <message>
        <source>Output &apos;{port}&apos; of {layer}</source>
        <translation>{layer} 的输出“{port}”</translation>
    </message>
    <message>
        <source>In training: {words}</source>
        <translation>训练中：{words}</translation>
    </message>
    <message>
        <source>The clipboard holds no layers. Copy layers in a Netwright window first.</source>
        <translation>剪贴板中没有层。请先在 Netwright 窗口中复制层。</translation>
    </message>
    <message>
        <source>The clipboard holds {count:,} characters; layers have at most {limit:,}.</source>
        <translation>剪贴板中有 {count:,} 个字符；层最多有 {limit:,} 个字符。</translation>
    </message>
    <message>
        <source>it is not a text in UTF-8.</source>
        <translation>不是 UTF-8 文本。</translation>
    </message>
    <message>
        <source>it holds no block. {error}</source>
        <translation>不包含模块。{error}</translation>
    </message>
    <message numerus="yes">
        <source>expected one block, received %n layer(s).</source>
        <translation>
            <numerusform>应为一个模块，实际收到 %n 个层。</numerusform>
        </translation>
    </message>
    <message>
        <source>{text}, also in the experiment</source>
        <translation>{text}，实验中也一并更改</translation>
    </message>
    <message>
        <source>Change {fields}</source>
        <translation>更改 {fields}</translation>
    </message>
    <message>
        <source>Rename to {name}</source>
        <translation>重命名为 {name}</translation>
    </message>
    <message>
        <source>Rename port to {name}</source>
        <translation>将端口重命名为 {name}</translation>
    </message>
    <message>
        <source>Replace with {type}</source>
        <translation>替换为{type}</translation>
    </message>
    <message>
        <source>A {type} stands inside a block. Open a block first.</source>
        <translation>{type}只能位于模块内。请先打开一个模块。</translation>
    </message>
    <message>
        <source>The other layers are one block now. Inputs and ports stay outside: {names}.</source>
        <translation>其他层现已合为一个模块。输入和端口留在外部：{names}。</translation>
    </message>
    <message>
        <source>For ONNX Runtime and other runtimes; compared with torch before it is written</source>
        <translation>用于 ONNX Runtime 和其他运行时；写入前与 torch 比较</translation>
    </message>
    <message>
        <source>One readable file that runs without Netwright, and its weights beside it</source>
        <translation>一个可读的文件，无需 Netwright 即可运行，权重位于其旁</translation>
    </message>
    <message>
        <source>A program (.pt2) with its weights, any batch size; loaded and compared</source>
        <translation>带权重的程序 (.pt2)，批量大小任意；会加载并比较</translation>
    </message>
    <message>
        <source>The program, loaded in another process,</source>
        <translation>在另一进程中加载的程序</translation>
    </message>
    <message>
        <source>Export network</source>
        <translation>导出网络</translation>
    </message>
    <message>
        <source>FORMAT</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>WEIGHTS</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>FILE</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>INPUT</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Input of the network</source>
        <translation>网络的输入</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>With a training script that gives the losses of the run</source>
        <translation>附带训练脚本，可得到与该运行相同的损失</translation>
    </message>
    <message>
        <source>Plain PyTorch: data, splits, loss, solver and schedule of the project; one process, or several under torchrun</source>
        <translation>纯 PyTorch：项目的数据、拆分、损失、求解器和调度；单个进程，或通过 torchrun 使用多个进程</translation>
    </message>
    <message>
        <source>File to write</source>
        <translation>要写入的文件</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Not known: the project of the run cannot be read.</source>
        <translation>未知：无法读取该运行的项目。</translation>
    </message>
    <message>
        <source>The network has no input layer.</source>
        <translation>网络没有输入层。</translation>
    </message>
    <message>
        <source>Copy code that runs it</source>
        <translation>复制运行代码</translation>
    </message>
    <message>
        <source>A Python program that loads the file, feeds it a sample and prints the result</source>
        <translation>一个 Python 程序：加载文件，输入一个样本并打印结果</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy the answers as text and as a picture</source>
        <translation>将答案复制为文本和图片</translation>
    </message>
    <message>
        <source>Answers as CSV…</source>
        <translation>答案导出为 CSV…</translation>
    </message>
    <message>
        <source>Picture as PNG…</source>
        <translation>图片导出为 PNG…</translation>
    </message>
    <message>
        <source>Picture as SVG…</source>
        <translation>图片导出为 SVG…</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>预测</translation>
    </message>
    <message numerus="yes">
        <source>%n series</source>
        <translation>
            <numerusform>%n 个序列</numerusform>
        </translation>
    </message>
    <message>
        <source>{failed:,} not used</source>
        <translation>{failed:,} 个未使用</translation>
    </message>
    <message>
        <source>{warned:,} with values that the network does not know</source>
        <translation>{warned:,} 个含有网络不认识的值</translation>
    </message>
    <message>
        <source>the first {count:,} are listed</source>
        <translation>列出前 {count:,} 个</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>已复制。</translation>
    </message>
    <message>
        <source>Export the prediction</source>
        <translation>导出预测</translation>
    </message>
    <message>
        <source>The prediction cannot be exported</source>
        <translation>无法导出预测</translation>
    </message>
    <message>
        <source>Export to</source>
        <translation>导出到</translation>
    </message>
    <message>
        <source>Choose the weights to write.</source>
        <translation>请选择要写入的权重。</translation>
    </message>
    <message>
        <source>Choose the file to write.</source>
        <translation>请选择要写入的文件。</translation>
    </message>
    <message>
        <source>No file was written.</source>
        <translation>未写入任何文件。</translation>
    </message>
    <message>
        <source>Exporting… the first time takes a few seconds.</source>
        <translation>正在导出… 首次需要几秒钟。</translation>
    </message>
    <message>
        <source>Replace {names}?</source>
        <translation>替换 {names}？</translation>
    </message>
    <message numerus="yes">
        <source>Replace %n file(s)?</source>
        <translation>
            <numerusform>替换 %n 个文件？</numerusform>
        </translation>
    </message>
    <message>
        <source>It exists in {folder}: {name}.</source>
        <translation>{folder} 中已存在：{name}。</translation>
    </message>
    <message>
        <source>They exist in {folder}: {names}.</source>
        <translation>{folder} 中已存在：{names}。</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Wrote {path}.</source>
        <translation>已写入 {path}。</translation>
    </message>
    <message>
        <source>Classes, in order: {names}.</source>
        <translation>类别，按顺序：{names}。</translation>
    </message>
    <message>
        <source>Code copied</source>
        <translation>已复制代码</translation>
    </message>
    <message>
        <source>Browse for {field}</source>
        <translation>浏览{field}</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>选择文件夹</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <translation>选择文件</translation>
    </message>
    <message>
        <source>Choose from a list…</source>
        <translation>从列表中选择…</translation>
    </message>
    <message>
        <source>Choose {field}</source>
        <translation>选择{field}</translation>
    </message>
    <message>
        <source>Reset to {default}</source>
        <translation>重置为 {default}</translation>
    </message>
    <message>
        <source>Edit its sweep…</source>
        <translation>编辑其扫描…</translation>
    </message>
    <message>
        <source>Sweep this…</source>
        <translation>扫描此项…</translation>
    </message>
    <message>
        <source>Sweep no more</source>
        <translation>不再扫描</translation>
    </message>
    <message>
        <source>unfolded</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>folded</source>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>Hide these fields</source>
        <translation>隐藏这些字段</translation>
    </message>
    <message>
        <source>Show these fields</source>
        <translation>显示这些字段</translation>
    </message>
    <message numerus="yes">
        <source>%n changed</source>
        <translation>
            <numerusform>%n 项已更改</numerusform>
        </translation>
    </message>
    <message>
        <source>several values</source>
        <translation>多个值</translation>
    </message>
    <message>
        <source>enter {value}.</source>
        <translation>请输入{value}。</translation>
    </message>
    <message>
        <source>Columns of the data</source>
        <translation>数据的列</translation>
    </message>
    <message>
        <source>Changed; the default is {default}. Click the dot to reset.</source>
        <translation>已更改；默认值为 {default}。单击圆点可重置。</translation>
    </message>
    <message>
        <source>Default: {default}</source>
        <translation>默认值：{default}</translation>
    </message>
    <message>
        <source>Varies in the experiment. Click the arrow to see how.</source>
        <translation>在实验中变化。单击箭头可查看变化方式。</translation>
    </message>
    <message>
        <source>Click to open {reference}.</source>
        <translation>单击以打开 {reference}。</translation>
    </message>
    <message>
        <source>On</source>
        <translation>开</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>response</source>
        <translation>响应</translation>
    </message>
    <message>
        <source>split</source>
        <translation>拆分</translation>
    </message>
    <message>
        <source>lengths</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>空</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>Drawing</source>
        <translation>绘图</translation>
    </message>
    <message>
        <source>Draw with the mouse: the prediction follows.</source>
        <translation>用鼠标绘制：随即给出预测。</translation>
    </message>
    <message>
        <source>Draw here</source>
        <translation>在此绘制</translation>
    </message>
    <message>
        <source>Width of the pen</source>
        <translation>笔的宽度</translation>
    </message>
    <message>
        <source>Grey level of the pen</source>
        <translation>笔的灰度</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>清除</translation>
    </message>
    <message>
        <source>Invert</source>
        <translation>反转</translation>
    </message>
    <message>
        <source>Light on dark, or dark on light, as in the training data</source>
        <translation>深底浅字或浅底深字，与训练数据一致</translation>
    </message>
    <message>
        <source>Pen</source>
        <translation>笔</translation>
    </message>
    <message>
        <source>Grey level</source>
        <translation>灰度</translation>
    </message>
    <message>
        <source>Type or paste a text: the prediction follows.</source>
        <translation>键入或粘贴文本：随即给出预测。</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Reset to averages</source>
        <translation>重置为平均值</translation>
    </message>
    <message>
        <source>An average of each number, the most frequent category of each text, in the training data</source>
        <translation>训练数据中每个数值的平均值、每个文本的最常见类别</translation>
    </message>
    <message>
        <source>no value</source>
        <translation>没有值</translation>
    </message>
    <message>
        <source>number</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>In the training data: {note}</source>
        <translation>在训练数据中：{note}</translation>
    </message>
    <message>
        <source>mostly {low} to {high}</source>
        <translation>多为 {low} 到 {high}</translation>
    </message>
    <message>
        <source>Files…</source>
        <translation>文件…</translation>
    </message>
    <message>
        <source>Predict what is on the clipboard (Ctrl+V)</source>
        <translation>预测剪贴板上的内容 (Ctrl+V)</translation>
    </message>
    <message>
        <source>Drop pictures or a folder here, or paste one (Ctrl+V).</source>
        <translation>将图片或文件夹拖放到此处，或粘贴图片 (Ctrl+V)。</translation>
    </message>
    <message>
        <source>Drop a CSV or Parquet table with these columns here, or paste its rows with a header (Ctrl+V).</source>
        <translation>将包含这些列的 CSV 或 Parquet 表格拖放到此处，或粘贴其带标题的行 (Ctrl+V)。</translation>
    </message>
    <message>
        <source>Drop text files here: each line is a text.</source>
        <translation>将文本文件拖放到此处：每行为一段文本。</translation>
    </message>
    <message>
        <source>Drop audio files or a folder here.</source>
        <translation>将音频文件或文件夹拖放到此处。</translation>
    </message>
    <message>
        <source>Drop a CSV table here, a row per time step, oldest first, or paste it (Ctrl+V). Columns: {names}.</source>
        <translation>将 CSV 表格拖放到此处，每个时间步一行，最早的在前，或粘贴它 (Ctrl+V)。列：{names}。</translation>
    </message>
    <message>
        <source>Drop a CSV table of at least {rows:,} rows here, a row per time step, oldest first, or paste it (Ctrl+V). Columns: {names}.</source>
        <translation>将至少 {rows:,} 行的 CSV 表格拖放到此处，每个时间步一行，最早的在前，或粘贴它 (Ctrl+V)。列：{names}。</translation>
    </message>
    <message>
        <source>{hint} The last {count:,} rows are the steps to predict.</source>
        <translation>{hint}最后 {count:,} 行为要预测的时间步。</translation>
    </message>
    <message>
        <source>Drop arrays (.npz, .npy) here, samples first: {shapes}.</source>
        <translation>将数组（.npz、.npy）拖放到此处，样本在前：{shapes}。</translation>
    </message>
    <message>
        <source>text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>per sequence</source>
        <translation>每个序列</translation>
    </message>
    <message>
        <source>known in advance</source>
        <translation>预先已知</translation>
    </message>
    <message>
        <source>{count:,} series</source>
        <translation>{count:,} 个序列</translation>
    </message>
    <message>
        <source>Default {value}</source>
        <translation>默认值 {value}</translation>
    </message>
    <message>
        <source>. </source>
        <comment>between two sentences</comment>
        <translation>。</translation>
    </message>
    <message>
        <source>Takes {expects}.</source>
        <translation>取值：{expects}。</translation>
    </message>
    <message>
        <source>{field}, in {unit}</source>
        <translation>{field}，单位：{unit}</translation>
    </message>
    <message>
        <source>Reconnect</source>
        <translation>重新连接</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>连接</translation>
    </message>
    <message>
        <source>Arrows or typing choose, Enter connects, Esc cancels</source>
        <translation>方向键或键入文字进行选择，Enter 连接，Esc 取消</translation>
    </message>
    <message>
        <source>There is no layer that {name} could be connected to.</source>
        <translation>没有可与 {name} 连接的层。</translation>
    </message>
    <message>
        <source>No layer is called &apos;{name}&apos;</source>
        <translation>没有名为“{name}”的层</translation>
    </message>
    <message>
        <source>, instead of {name}</source>
        <translation>，替换 {name}</translation>
    </message>
    <message>
        <source>Insert here</source>
        <translation>在此处插入</translation>
    </message>
    <message>
        <source>{type} has no input: it cannot be inserted into a connection.</source>
        <translation>{type}没有输入：无法插入到连接中。</translation>
    </message>
    <message>
        <source>{type} does not fit here. {error}</source>
        <translation>{type}不适合此处。{error}</translation>
    </message>
    <message>
        <source>Add {layer}</source>
        <translation>添加 {layer}</translation>
    </message>
    <message>
        <source>Insert {layer}</source>
        <translation>插入 {layer}</translation>
    </message>
    <message>
        <source>{name} has no input to connect.</source>
        <translation>{name} 没有可连接的输入。</translation>
    </message>
    <message>
        <source>Select the block that is to be dissolved.</source>
        <translation>请选择要拆分的模块。</translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n 个模块</numerusform>
        </translation>
    </message>
    <message>
        <source>Ungroup {name}</source>
        <translation>取消组合 {name}</translation>
    </message>
    <message>
        <source>Bypass {name}</source>
        <translation>旁路 {name}</translation>
    </message>
    <message>
        <source>Use {name}</source>
        <translation>使用 {name}</translation>
    </message>
    <message numerus="yes">
        <source>Delete %n layer(s)</source>
        <translation>
            <numerusform>删除 %n 个层</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete {name}</source>
        <translation>删除 {name}</translation>
    </message>
    <message>
        <source>Delete frame</source>
        <translation>删除框</translation>
    </message>
    <message>
        <source>Delete comment</source>
        <translation>删除注释</translation>
    </message>
    <message>
        <source>Delete connection</source>
        <translation>删除连接</translation>
    </message>
    <message>
        <source>real</source>
        <translation>真实</translation>
    </message>
    <message>
        <source>random</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>In {precision} it differs by at most {difference:.2g} of the largest output over {samples:,} {kind} samples; in float32 it agrees with torch.</source>
        <translation>在 {samples:,} 个{kind}样本上，{precision} 的结果与原结果最多相差最大输出的 {difference:.2g}；float32 的结果与 torch 一致。</translation>
    </message>
    <message>
        <source>{program} agrees: largest difference {difference:.2g} over {samples:,} {kind} samples.</source>
        <translation>{program} 的结果一致：在 {samples:,} 个{kind}样本上最大差异为 {difference:.2g}。</translation>
    </message>
    <message numerus="yes">
        <source>Speed on the CPU with %n thread(s).</source>
        <translation>
            <numerusform>速度在 CPU 上用 %n 个线程测得。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Metrics on {samples:,} samples of the {split} data; speed on the CPU with %n thread(s).</source>
        <translation>
            <numerusform>度量基于{split}数据的 {samples:,} 个样本；速度在 CPU 上用 %n 个线程测得。</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {count:,} more</source>
        <translation>{names} 以及另外 {count:,} 个</translation>
    </message>
    <message>
        <source>Report of the export</source>
        <translation>导出报告</translation>
    </message>
    <message>
        <source>ms, batch {size}</source>
        <translation>毫秒，批量 {size}</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Compare has both runs answer the same samples, and tests whether one is better.</source>
        <translation>“比较”让两次运行对相同的样本给出答案，并检验其中一次是否更好。</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>答案</translation>
    </message>
    <message>
        <source>This run</source>
        <translation>此运行</translation>
    </message>
    <message>
        <source>The other run</source>
        <translation>另一运行</translation>
    </message>
    <message>
        <source>on</source>
        <translation>数据：</translation>
    </message>
    <message>
        <source>Compare again</source>
        <translation>重新比较</translation>
    </message>
    <message>
        <source>Evaluating…</source>
        <translation>正在评估…</translation>
    </message>
    <message numerus="yes">
        <source>{done:,} of %n sample(s)…</source>
        <translation>
            <numerusform>已完成 {done:,} 个，共 %n 个样本…</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is known of single samples of this output, so that it cannot be compared.</source>
        <translation>没有此输出各个样本的信息，因此无法比较。</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s). {notes}</source>
        <translation>
            <numerusform>%n 个样本。{notes}</numerusform>
        </translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差值</translation>
    </message>
    <message>
        <source>paired bootstrap; {second} minus {first}</source>
        <translation>配对自助法；{second} 减 {first}</translation>
    </message>
    <message>
        <source>{first} right</source>
        <translation>{first} 正确</translation>
    </message>
    <message>
        <source>{first} wrong</source>
        <translation>{first} 错误</translation>
    </message>
    <message>
        <source>{second} right</source>
        <translation>{second} 正确</translation>
    </message>
    <message>
        <source>{second} wrong</source>
        <translation>{second} 错误</translation>
    </message>
    <message>
        <source>McNemar&apos;s exact test: p = {p}</source>
        <translation>McNemar 精确检验：p = {p}</translation>
    </message>
    <message>
        <source>Right and wrong</source>
        <translation>正确与错误</translation>
    </message>
    <message>
        <source>Label</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>置信度</translation>
    </message>
    <message>
        <source>{count:,} in all</source>
        <translation>共 {count:,} 个</translation>
    </message>
    <message>
        <source>Different answers</source>
        <translation>不同的答案</translation>
    </message>
    <message>
        <source>{change} points</source>
        <translation>{change} 个百分点</translation>
    </message>
    <message>
        <source>Relative to spread</source>
        <translation>相对于离散程度</translation>
    </message>
    <message>
        <source>first that differs</source>
        <translation>首个不同</translation>
    </message>
    <message>
        <source>differs</source>
        <translation>不同</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>The outputs were not compared with the original.</source>
        <translation>未将输出与原网络比较。</translation>
    </message>
    <message numerus="yes">
        <source>Differs from the original over %n random sample(s): {names}.</source>
        <translation>
            <numerusform>在 %n 个随机样本上与原网络不一致：{names}。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Agrees with the original over %n random sample(s): largest difference {difference:.2g}.</source>
        <translation>
            <numerusform>在 %n 个随机样本上与原网络一致：最大差异为 {difference:.2g}。</numerusform>
        </translation>
    </message>
    <message>
        <source>opset {version}</source>
        <translation>运算符集 {version}</translation>
    </message>
    <message>
        <source>written by {program}</source>
        <translation>由 {program} 写入</translation>
    </message>
    <message>
        <source>{count:,} part of other layers</source>
        <translation>{count:,} 个并入其他层</translation>
    </message>
    <message>
        <source>{count:,} computed at import</source>
        <translation>{count:,} 个在导入时已计算</translation>
    </message>
    <message>
        <source>{count:,} not needed</source>
        <translation>{count:,} 个不需要</translation>
    </message>
    <message>
        <source>1 kept as it is</source>
        <translation>1 个保持原样</translation>
    </message>
    <message>
        <source>{count:,} kept as they are</source>
        <translation>{count:,} 个保持原样</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>largest difference {value}</source>
        <translation>最大差异 {value}</translation>
    </message>
    <message>
        <source>spread {value}</source>
        <translation>离散程度 {value}</translation>
    </message>
    <message>
        <source>agrees</source>
        <translation>一致</translation>
    </message>
    <message>
        <source>1 operator without a layer here: {names}. It runs as in the original, and does not learn.</source>
        <translation>1 个运算符没有对应的层：{names}。它按原样运行，不参与学习。</translation>
    </message>
    <message>
        <source>{count:,} operators without a layer here: {names}. They run as in the original, and do not learn.</source>
        <translation>{count:,} 个运算符没有对应的层：{names}。它们按原样运行，不参与学习。</translation>
    </message>
    <message>
        <source>Import report</source>
        <translation>导入报告</translation>
    </message>
    <message>
        <source>{name} was imported</source>
        <translation>已导入 {name}</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>Became</source>
        <translation>转换为</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Largest difference</source>
        <translation>最大差异</translation>
    </message>
    <message>
        <source>Spread</source>
        <translation>离散程度</translation>
    </message>
    <message>
        <source>Agrees</source>
        <translation>一致</translation>
    </message>
    <message>
        <source>Click an output to go to its layer</source>
        <translation>单击输出可转到其所属的层</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Transfer learning…</source>
        <translation>迁移学习…</translation>
    </message>
    <message>
        <source>Replace the head for other data, and freeze the layers before it</source>
        <translation>针对其他数据替换头部，并冻结其前面的层</translation>
    </message>
    <message>
        <source>Report copied</source>
        <translation>已复制报告</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>FLOPs per sample</source>
        <translation>每个样本的 FLOP 数</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>Time per step</source>
        <translation>每步时间</translation>
    </message>
    <message>
        <source>What training keeps of each layer&apos;s output, at the mini-batch size, as 32-bit numbers: an estimate</source>
        <translation>按小批量大小，训练为每层输出保留的数据（32 位数值）：估计值</translation>
    </message>
    <message>
        <source>{column}, batch {batch:,}</source>
        <translation>{column}，批量 {batch:,}</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>未测量</translation>
    </message>
    <message>
        <source>Not known until the problems before this layer are solved</source>
        <translation>在解决该层之前的问题后才能确定</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Copy as CSV</source>
        <translation>复制为 CSV</translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation>导出为 CSV…</translation>
    </message>
    <message>
        <source>Export the table of layers</source>
        <translation>导出层表</translation>
    </message>
    <message>
        <source>CSV tables (*.csv)</source>
        <translation>CSV 表格 (*.csv)</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}. Choose another folder.</source>
        <translation>无法写入 {path}：{reason}。请选择其他文件夹。</translation>
    </message>
    <message>
        <source>Favourites</source>
        <translation>收藏</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近使用</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Templates</source>
        <translation>模板</translation>
    </message>
    <message>
        <source>Projects that you open or save appear here.</source>
        <translation>您打开或保存的项目会显示在这里。</translation>
    </message>
    <message>
        <source>Search projects, examples, templates…</source>
        <translation>搜索项目、示例、模板…</translation>
    </message>
    <message>
        <source>Search the start page</source>
        <translation>搜索起始页</translation>
    </message>
    <message>
        <source>Blank project</source>
        <translation>空白项目</translation>
    </message>
    <message>
        <source>An empty canvas</source>
        <translation>空白画布</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>A project file on this machine</source>
        <translation>本机上的项目文件</translation>
    </message>
    <message>
        <source>Back to the project</source>
        <translation>返回项目</translation>
    </message>
    <message>
        <source>Leave this page (Esc)</source>
        <translation>离开此页 (Esc)</translation>
    </message>
    <message>
        <source>Back to {name}</source>
        <translation>返回 {name}</translation>
    </message>
    <message>
        <source>Nothing matches “{search}”.</source>
        <translation>没有与“{search}”匹配的内容。</translation>
    </message>
    <message>
        <source>My blocks</source>
        <translation>我的模块</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>No ONNX form: {reason}</source>
        <translation>没有 ONNX 形式：{reason}</translation>
    </message>
    <message>
        <source>From the add-on {title}</source>
        <translation>来自附加组件 {title}</translation>
    </message>
    <message>
        <source>favourite</source>
        <translation>收藏</translation>
    </message>
    <message>
        <source>no ONNX form</source>
        <translation>没有 ONNX 形式</translation>
    </message>
    <message>
        <source>Search layers</source>
        <translation>搜索层</translation>
    </message>
    <message>
        <source>Search layers…</source>
        <translation>搜索层…</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>清除搜索</translation>
    </message>
    <message>
        <source>{count} add-ons are not used: {names}. Help, About says why.</source>
        <translation>有 {count} 个附加组件未使用：{names}。原因见“帮助”&gt;“关于”。</translation>
    </message>
    <message>
        <source>1 add-on is not used: {names}. Help, About says why.</source>
        <translation>有 1 个附加组件未使用：{names}。原因见“帮助”&gt;“关于”。</translation>
    </message>
    <message>
        <source>{type}: stands inside a block. Open one first.</source>
        <translation>{type}：只能位于模块内。请先打开一个模块。</translation>
    </message>
    <message>
        <source>Layer library</source>
        <translation>层库</translation>
    </message>
    <message>
        <source>Unfold all</source>
        <translation>全部展开</translation>
    </message>
    <message>
        <source>Fold all</source>
        <translation>全部折叠</translation>
    </message>
    <message>
        <source>Add to the network	Enter</source>
        <translation>添加到网络	Enter</translation>
    </message>
    <message>
        <source>Remove from favourites</source>
        <translation>从收藏中移除</translation>
    </message>
    <message>
        <source>Add to favourites</source>
        <translation>添加到收藏</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>尚不可知</translation>
    </message>
    <message>
        <source>Choose data…</source>
        <translation>选择数据…</translation>
    </message>
    <message>
        <source>Training options…</source>
        <translation>训练选项…</translation>
    </message>
    <message>
        <source>Trust the code…</source>
        <translation>信任代码…</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Another kind…</source>
        <translation>其他种类…</translation>
    </message>
    <message>
        <source>Leave out files</source>
        <translation>排除文件</translation>
    </message>
    <message>
        <source>Include files again</source>
        <translation>重新包含文件</translation>
    </message>
    <message>
        <source>Reading the data: {progress}</source>
        <translation>正在读取数据：{progress}</translation>
    </message>
    <message>
        <source>Looking at the samples was cancelled.</source>
        <translation>查看样本已取消。</translation>
    </message>
    <message>
        <source>{count} damaged, left out</source>
        <translation>{count} 个已损坏，已排除</translation>
    </message>
    <message>
        <source>Reading the data…</source>
        <translation>正在读取数据…</translation>
    </message>
    <message>
        <source>{sentence}.</source>
        <translation>{sentence}。</translation>
    </message>
    <message>
        <source>Looking at samples…</source>
        <translation>正在查看样本…</translation>
    </message>
    <message>
        <source>{name} (last column)</source>
        <translation>{name}（最后一列）</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>{link} with Alt+Enter</source>
        <translation>按 Alt+Enter 可{link}</translation>
    </message>
    <message>
        <source>Training options</source>
        <translation>训练选项</translation>
    </message>
    <message>
        <source>Environment</source>
        <translation>环境</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Go to the layer</source>
        <translation>转到该层</translation>
    </message>
    <message>
        <source>No problems</source>
        <translation>没有问题</translation>
    </message>
    <message>
        <source>Problems {count:,}</source>
        <translation>问题 {count:,}</translation>
    </message>
    <message>
        <source>A change of its sizes makes it start from random numbers.</source>
        <translation>更改其大小会使其从随机数重新开始。</translation>
    </message>
    <message>
        <source>Letters, digits and _; unique in the network</source>
        <translation>字母、数字和 _；在网络中唯一</translation>
    </message>
    <message>
        <source>Classes, counted in steps</source>
        <translation>类别，按时间步计数</translation>
    </message>
    <message>
        <source>Classes, counted in pixels</source>
        <translation>类别，按像素计数</translation>
    </message>
    <message>
        <source>Classes, counted in voxels</source>
        <translation>类别，按体素计数</translation>
    </message>
    <message>
        <source>sequences</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>Lengths</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>Splits</source>
        <translation>拆分</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>角色</translation>
    </message>
    <message numerus="yes">
        <source>Show %n more column(s)</source>
        <translation>
            <numerusform>再显示 %n 列</numerusform>
        </translation>
    </message>
    <message>
        <source>Columns, {count:,}</source>
        <translation>列，{count:,}</translation>
    </message>
    <message>
        <source>Properties</source>
        <translation>属性</translation>
    </message>
    <message>
        <source>Analysis</source>
        <translation>分析</translation>
    </message>
    <message>
        <source>The type is not known here; it is kept as it is.</source>
        <translation>此处不认识该类型；将原样保留。</translation>
    </message>
    <message>
        <source>Bypassed: its input goes past it.</source>
        <translation>已旁路：其输入直接绕过它。</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Input {port}</source>
        <translation>输入 {port}</translation>
    </message>
    <message>
        <source>{count}, frozen</source>
        <translation>{count}，已冻结</translation>
    </message>
    <message>
        <source>Activations, batch {batch:,}</source>
        <translation>激活值，批量 {batch:,}</translation>
    </message>
    <message>
        <source>Solve the problems of the layers before it.</source>
        <translation>请先解决其前面各层的问题。</translation>
    </message>
    <message>
        <source>Output {port}</source>
        <translation>输出 {port}</translation>
    </message>
    <message>
        <source>{count:,} of them keep their weights. {note}</source>
        <translation>其中 {count:,} 个保持权重不变。{note}</translation>
    </message>
    <message numerus="yes">
        <source>%n types</source>
        <translation>
            <numerusform>%n 种类型</numerusform>
        </translation>
    </message>
    <message>
        <source>Layers of one type can be changed together.</source>
        <translation>同一类型的层可以一起更改。</translation>
    </message>
    <message>
        <source>Nothing is selected</source>
        <translation>未选择任何内容</translation>
    </message>
    <message>
        <source>Connections</source>
        <translation>连接</translation>
    </message>
    <message>
        <source>at least {count}</source>
        <translation>至少 {count}</translation>
    </message>
    <message>
        <source>Frozen parameters</source>
        <translation>冻结的参数</translation>
    </message>
    <message>
        <source>Select a layer to see and change its fields.</source>
        <translation>选择一个层以查看和更改其字段。</translation>
    </message>
    <message>
        <source>Drag a layer from the library onto the canvas, or double-click it there.</source>
        <translation>将层从库中拖到画布上，或在库中双击该层。</translation>
    </message>
    <message>
        <source>{count:,} ({total:,} with blocks)</source>
        <translation>{count:,}（含模块内共 {total:,} 个）</translation>
    </message>
    <message>
        <source>about {count}</source>
        <translation>约 {count}</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>State of {solver}</source>
        <translation>{solver} 的状态</translation>
    </message>
    <message>
        <source>Memory to train</source>
        <translation>训练所需内存</translation>
    </message>
    <message>
        <source>To open the block, double-click it or press Alt+Down.</source>
        <translation>要打开模块，请双击它或按 Alt+向下键。</translation>
    </message>
    <message>
        <source>It has no ports. Open it and add block inputs and outputs.</source>
        <translation>它没有端口。请打开它并添加模块输入和模块输出。</translation>
    </message>
    <message>
        <source>Input {port} of the block</source>
        <translation>模块的输入 {port}</translation>
    </message>
    <message>
        <source>Output {port} of the block</source>
        <translation>模块的输出 {port}</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Help for {type}, unfolded</source>
        <translation>{type}的帮助，已展开</translation>
    </message>
    <message>
        <source>Help for {type}, folded</source>
        <translation>{type}的帮助，已折叠</translation>
    </message>
    <message>
        <source>Hide what {type} does: formula, source, other names</source>
        <translation>隐藏{type}的作用：公式、来源、其他名称</translation>
    </message>
    <message>
        <source>Show what {type} does: formula, source, other names</source>
        <translation>显示{type}的作用：公式、来源、其他名称</translation>
    </message>
    <message>
        <source>The worker of the pipeline that computes the selected layers. Layers that a connection would lead backwards from or to go along; View &gt; Stages shows all of them</source>
        <translation>流水线中计算所选层的工作单元。如果连接会因此反向，相关的层会一并移动；“视图”&gt;“阶段”显示全部阶段</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>流水线</translation>
    </message>
    <message>
        <source>{block} is in stage {stage} as a whole.</source>
        <translation>{block} 整体位于阶段 {stage}。</translation>
    </message>
    <message>
        <source>balanced by the engine</source>
        <translation>由引擎均衡</translation>
    </message>
    <message>
        <source>set by hand</source>
        <translation>手动设置</translation>
    </message>
    <message>
        <source>{count:,} stages, {how}.</source>
        <translation>{count:,} 个阶段，{how}。</translation>
    </message>
    <message>
        <source>iteration {last:,}</source>
        <translation>迭代 {last:,}</translation>
    </message>
    <message>
        <source>✓ Healthy</source>
        <translation>✓ 健康</translation>
    </message>
    <message>
        <source>▲ To look at</source>
        <translation>▲ 需要查看</translation>
    </message>
    <message>
        <source>◆ Broken</source>
        <translation>◆ 已损坏</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>健康状况</translation>
    </message>
    <message>
        <source>Double click to write</source>
        <translation>双击以编写</translation>
    </message>
    <message>
        <source>Bypassed</source>
        <translation>已旁路</translation>
    </message>
    <message>
        <source>output {size}</source>
        <translation>输出 {size}</translation>
    </message>
    <message>
        <source>gradient {gradient}</source>
        <translation>梯度 {gradient}</translation>
    </message>
    <message>
        <source>{share} silent</source>
        <translation>{share} 无响应</translation>
    </message>
    <message>
        <source>infinite</source>
        <translation>无穷大</translation>
    </message>
    <message>
        <source>no number</source>
        <translation>非数值</translation>
    </message>
    <message>
        <source>Its gradient is infinite</source>
        <translation>其梯度为无穷大</translation>
    </message>
    <message>
        <source>Its gradient is NaN</source>
        <translation>其梯度为 NaN</translation>
    </message>
    <message>
        <source>Its output is NaN</source>
        <translation>其输出为 NaN</translation>
    </message>
    <message>
        <source>Its output is infinite</source>
        <translation>其输出为无穷大</translation>
    </message>
    <message>
        <source>All its units give zero for every sample · {words}</source>
        <translation>其所有单元对每个样本都输出零 · {words}</translation>
    </message>
    <message>
        <source>{share} of its units give zero for every sample · {words}</source>
        <translation>其 {share} 的单元对每个样本都输出零 · {words}</translation>
    </message>
    <message>
        <source>No gradient reaches it · {words}</source>
        <translation>没有梯度到达该层 · {words}</translation>
    </message>
    <message>
        <source>Next to no gradient reaches it, {share} of the largest · {words}</source>
        <translation>几乎没有梯度到达该层，仅为最大值的 {share} · {words}</translation>
    </message>
    <message>
        <source>{share} of units zero</source>
        <translation>{share} 的单元为零</translation>
    </message>
    <message>
        <source>Structure</source>
        <translation>结构</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>开销</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Attribution</source>
        <translation>归因</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Parameters of each layer, sizes on the connections</source>
        <translation>每层的参数，以及连接上的大小</translation>
    </message>
    <message>
        <source>Parameters, FLOPs or memory of each layer</source>
        <translation>每层的参数、FLOP 数或内存</translation>
    </message>
    <message>
        <source>Measured time of each layer per step, forward and backward</source>
        <translation>每层每步的实测时间，含前向与反向传播</translation>
    </message>
    <message>
        <source>Gradient and dead units of each layer while a run trains</source>
        <translation>运行训练时每层的梯度和失效单元</translation>
    </message>
    <message>
        <source>Outputs of each layer for a sample, as pictures beside the layer</source>
        <translation>每层对一个样本的输出，以图片显示在层旁</translation>
    </message>
    <message>
        <source>Where each layer looks for the answer to a sample, as pictures beside the layer</source>
        <translation>每层在何处寻找样本的答案，以图片显示在层旁</translation>
    </message>
    <message>
        <source>Which worker computes which layer, by colour and number</source>
        <translation>以颜色和编号表示哪个工作单元计算哪个层</translation>
    </message>
    <message>
        <source>Add layers first.</source>
        <translation>请先添加层。</translation>
    </message>
    <message>
        <source>Train the network: its health is measured while it trains.</source>
        <translation>请训练网络：其健康状况在训练过程中测量。</translation>
    </message>
    <message>
        <source>Train the network first: this is shown for a run that has ended.</source>
        <translation>请先训练网络：此内容针对已结束的运行显示。</translation>
    </message>
    <message>
        <source>{name}: a picture ends in {formats}.</source>
        <translation>{name}：图片的扩展名应为 {formats}。</translation>
    </message>
    <message>
        <source>The network has no layers, so there is nothing to draw.</source>
        <translation>网络中没有层，因此没有可绘制的内容。</translation>
    </message>
    <message>
        <source>{to} cannot be written: {reason}. Choose another place.</source>
        <translation>无法写入 {to}：{reason}。请选择其他位置。</translation>
    </message>
    <message>
        <source>The picture would have {width:,} × {height:,} pixels, more than fit into memory well. Save it as SVG or PDF, which have no pixels.</source>
        <translation>图片将有 {width:,} × {height:,} 像素，内存难以容纳。请保存为没有像素的 SVG 或 PDF。</translation>
    </message>
    <message>
        <source>What is inside {block} is in its stage: a block is in one as a whole.</source>
        <translation>{block} 内部的内容都在其阶段中：一个模块整体位于一个阶段。</translation>
    </message>
    <message>
        <source>Put {subject} into stage {stage}</source>
        <translation>将 {subject} 放入阶段 {stage}</translation>
    </message>
    <message>
        <source>The network has errors; correct them first.</source>
        <translation>网络有错误；请先更正。</translation>
    </message>
    <message>
        <source>Balance stages</source>
        <translation>均衡各阶段</translation>
    </message>
    <message>
        <source>Clear stages</source>
        <translation>清除阶段</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Learnable numbers of each layer</source>
        <translation>每层的可学习参数数量</translation>
    </message>
    <message>
        <source>Floating-point operations of each layer per sample</source>
        <translation>每层处理每个样本的浮点运算次数</translation>
    </message>
    <message>
        <source>What training keeps of each layer&apos;s output, at the mini-batch size</source>
        <translation>按小批量大小，训练为每层输出保留的数据</translation>
    </message>
    <message>
        <source>Undid: {change}</source>
        <translation>已撤销：{change}</translation>
    </message>
    <message>
        <source>Redid: {change}</source>
        <translation>已重做：{change}</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>The files cannot be checked: {reason}.</source>
        <translation>无法检查文件：{reason}。</translation>
    </message>
    <message>
        <source>The check was interrupted: its process has ended. &apos;Reload&apos; starts it again.</source>
        <translation>检查被中断：其进程已结束。“重新加载”可重新开始检查。</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) checked</source>
        <translation>
            <numerusform>已检查 %n 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>Include again</source>
        <translation>重新包含</translation>
    </message>
    <message>
        <source>{count:,} left out</source>
        <translation>已排除 {count:,} 个</translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>{count:,} damaged</source>
        <translation>{count:,} 个已损坏</translation>
    </message>
    <message>
        <source> and </source>
        <translation>和</translation>
    </message>
    <message>
        <source>{count:,} resized</source>
        <translation>{count:,} 个已调整大小</translation>
    </message>
    <message>
        <source>{count:,} in colour</source>
        <translation>{count:,} 个彩色</translation>
    </message>
    <message>
        <source>{count:,} grey</source>
        <translation>{count:,} 个灰度</translation>
    </message>
    <message>
        <source>among {rest:,} grey, made grey</source>
        <translation>其余 {rest:,} 个为灰度，已转换为灰度</translation>
    </message>
    <message>
        <source>among {rest:,} in colour, colours kept</source>
        <translation>其余 {rest:,} 个为彩色，保留颜色</translation>
    </message>
    <message>
        <source>Keep colours</source>
        <translation>保留颜色</translation>
    </message>
    <message>
        <source>Make grey</source>
        <translation>转换为灰度</translation>
    </message>
    <message>
        <source>Checking {checked:,} of {total:,} files…</source>
        <translation>正在检查 {total:,} 个文件中的第 {checked:,} 个…</translation>
    </message>
    <message>
        <source>Checking the files…</source>
        <translation>正在检查文件…</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) checked.</source>
        <translation>
            <numerusform>已检查 %n 个文件。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) checked: all can be read, and none is resized or converted.</source>
        <translation>
            <numerusform>已检查 %n 个文件：全部可读，且均无需调整大小或转换。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) of another size: resized to {size}, the most frequent size</source>
        <translation>
            <numerusform>%n 个文件大小不同：调整为最常见的大小 {size}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) with colours: converted to grey</source>
        <translation>
            <numerusform>%n 个文件有颜色：转换为灰度</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n grey file(s): taken as colours, with three equal channels</source>
        <translation>
            <numerusform>%n 个灰度文件：按彩色处理，三个通道相同</numerusform>
        </translation>
    </message>
    <message>
        <source>Leave these {count:,} out</source>
        <translation>排除这 {count:,} 个</translation>
    </message>
    <message>
        <source>Leave all {count:,} out</source>
        <translation>排除全部 {count:,} 个</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) left out of the data</source>
        <translation>
            <numerusform>已从数据中排除 %n 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>No program was found that shows {folder}.</source>
        <translation>未找到可显示 {folder} 的程序。</translation>
    </message>
    <message>
        <source>1 file cannot be used: training ends with an error unless you leave it out</source>
        <translation>1 个文件无法使用：除非将其排除，否则训练会因错误而结束</translation>
    </message>
    <message>
        <source>{count:,} files cannot be used: training ends with an error unless you leave them out</source>
        <translation>{count:,} 个文件无法使用：除非将其排除，否则训练会因错误而结束</translation>
    </message>
    <message>
        <source>Widths</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Heights</source>
        <translation>高度</translation>
    </message>
    <message>
        <source>images</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>{name} is {before} again</source>
        <translation>{name} 恢复为 {before}</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>还有 %n 项</numerusform>
        </translation>
    </message>
    <message>
        <source>(1 - cos(2π n / length)) / 2</source>
        <translation>(1 - cos(2π n / 长度)) / 2</translation>
    </message>
    <message>
        <source>(exp(x) + exp(-x)) / 2</source>
        <translation>(exp(x) + exp(-x)) / 2</translation>
    </message>
    <message>
        <source>(exp(x) - exp(-x)) / 2</source>
        <translation>(exp(x) - exp(-x)) / 2</translation>
    </message>
    <message>
        <source>-1 and 1 become minimum and maximum</source>
        <translation>-1 和 1 变为最小值和最大值</translation>
    </message>
    <message>
        <source>-1 below zero, 1 above it, 0 at zero</source>
        <translation>零以下为 -1，零以上为 1，零处为 0</translation>
    </message>
    <message>
        <source>-x</source>
        <translation>-x</translation>
    </message>
    <message>
        <source>0 and 1 become minimum and maximum</source>
        <translation>0 和 1 变为最小值和最大值</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 到 1</translation>
    </message>
    <message>
        <source>0 to 1: divided by 255</source>
        <translation>0 到 1：除以 255</translation>
    </message>
    <message>
        <source>0 to 255, as in the files</source>
        <translation>0 到 255，与文件中相同</translation>
    </message>
    <message>
        <source>0.2 x + 0.5, cut at 0 and 1 (torch&apos;s own hard sigmoid rises by 1/6)</source>
        <translation>0.2 x + 0.5，在 0 和 1 处截止（torch 自身的硬 sigmoid 斜率为 1/6）</translation>
    </message>
    <message>
        <source>0.54 - 0.46 cos(2π n / length)</source>
        <translation>0.54 - 0.46 cos(2π n / 长度)</translation>
    </message>
    <message>
        <source>1 - overlap</source>
        <translation>1 - 重叠</translation>
    </message>
    <message>
        <source>1 - squared error / variance of the targets, mean over responses</source>
        <translation>1 - 误差平方 / 目标的方差，对各响应取均值</translation>
    </message>
    <message>
        <source>1 / (1 + exp(-x))</source>
        <translation>1 / (1 + exp(-x))</translation>
    </message>
    <message>
        <source>1 everywhere</source>
        <translation>处处为 1</translation>
    </message>
    <message>
        <source>1 for grey, 3 for colour</source>
        <translation>灰度为 1，彩色为 3</translation>
    </message>
    <message>
        <source>1,797 handwritten digits of 8 × 8 pixels, shipped with Netwright</source>
        <translation>1,797 个 8 × 8 像素的手写数字，随 Netwright 提供</translation>
    </message>
    <message>
        <source>1-D CNN for signals</source>
        <translation>用于信号的一维 CNN</translation>
    </message>
    <message>
        <source>1. A network on the canvas</source>
        <translation>1. 画布上的网络</translation>
    </message>
    <message>
        <source>16-bit floats</source>
        <translation>16 位浮点数</translation>
    </message>
    <message>
        <source>1: not scaled</source>
        <translation>1：不缩放</translation>
    </message>
    <message>
        <source>2. Data</source>
        <translation>2. 数据</translation>
    </message>
    <message>
        <source>3. Training options</source>
        <translation>3. 训练选项</translation>
    </message>
    <message>
        <source>32-bit floats</source>
        <translation>32 位浮点数</translation>
    </message>
    <message>
        <source>4. Train and watch</source>
        <translation>4. 训练与观察</translation>
    </message>
    <message>
        <source>5-fold cross-validation</source>
        <translation>5 折交叉验证</translation>
    </message>
    <message>
        <source>5. Look at the results</source>
        <translation>5. 查看结果</translation>
    </message>
    <message>
        <source>6. Take it away</source>
        <translation>6. 导出与试验</translation>
    </message>
    <message>
        <source>A CNN that says how many degrees a digit is turned.</source>
        <translation>判断数字旋转了多少度的 CNN。</translation>
    </message>
    <message>
        <source>A CNN that tells six instruments apart by spectrogram.</source>
        <translation>通过频谱图区分六种乐器的 CNN。</translation>
    </message>
    <message>
        <source>A CSV table with a header, or a Parquet file, with a response column</source>
        <translation>带表头的 CSV 表格或 Parquet 文件，含响应列</translation>
    </message>
    <message>
        <source>A GLU whose gate is a GELU: a · GELU(b), with a and b the halves of the channels. The output has half of them.</source>
        <translation>以 GELU 为门的 GLU：a · GELU(b)，其中 a 和 b 是通道的两半。输出的通道数减半。</translation>
    </message>
    <message>
        <source>A GLU whose gate is a swish: swish(a) · b, with a and b the halves of the channels. The output has half of them.</source>
        <translation>以 swish 为门的 GLU：swish(a) · b，其中 a 和 b 是通道的两半。输出的通道数减半。</translation>
    </message>
    <message>
        <source>A GRU with fewer parameters: input and state pass through projectors before they meet the weights.</source>
        <translation>参数更少的 GRU：输入和状态在与权重相乘之前先经过投影。</translation>
    </message>
    <message>
        <source>A Ray cluster that runs already</source>
        <translation>已在运行的 Ray 集群</translation>
    </message>
    <message>
        <source>A ReLU of the magnitude with a learned threshold for each channel; the phase stays.</source>
        <translation>对幅值应用的 ReLU，每个通道有可学习的阈值；相位保持不变。</translation>
    </message>
    <message>
        <source>A ReLU of the real and of the imaginary part, each by itself.</source>
        <translation>对实部和虚部分别应用的 ReLU。</translation>
    </message>
    <message>
        <source>A ReLU that learns its slope below zero: x, or alpha · x below zero.</source>
        <translation>可学习零以下斜率的 ReLU：x，零以下为 alpha · x。</translation>
    </message>
    <message>
        <source>A ReLU that stops at a ceiling: min(max(0, x), ceiling). With 6 it is ReLU6.</source>
        <translation>有上限的 ReLU：min(max(0, x), ceiling)。上限为 6 时即 ReLU6。</translation>
    </message>
    <message>
        <source>A ReLU with a random slope below zero while training, and the middle one afterwards.</source>
        <translation>训练时零以下斜率随机、之后取中间斜率的 ReLU。</translation>
    </message>
    <message>
        <source>A ReLU without a kink: ln(1 + exp(x)). What leaves it is always positive.</source>
        <translation>没有折点的 ReLU：ln(1 + exp(x))。输出总为正。</translation>
    </message>
    <message>
        <source>A bidirectional LSTM that classifies short texts.</source>
        <translation>对短文本进行分类的双向 LSTM。</translation>
    </message>
    <message>
        <source>A category of its own</source>
        <translation>作为单独的类别</translation>
    </message>
    <message>
        <source>A category of its own, (missing)</source>
        <translation>单独的类别 (missing)</translation>
    </message>
    <message>
        <source>A chapter of the guided tour, in a window of its own</source>
        <translation>引导教程的一章，在单独的窗口中显示</translation>
    </message>
    <message>
        <source>A class or number per text</source>
        <translation>每段文本一个类别或数值</translation>
    </message>
    <message>
        <source>A class with __len__ and __getitem__, or a function, in a Python file of a trusted folder</source>
        <translation>受信任文件夹的 Python 文件中带有 __len__ 和 __getitem__ 的类，或一个函数</translation>
    </message>
    <message>
        <source>A cluster with a profile</source>
        <translation>带有配置文件的集群</translation>
    </message>
    <message>
        <source>A column or array names the split of each sample: train, val or test</source>
        <translation>由一列或一个数组给出每个样本所属的拆分：train、val 或 test</translation>
    </message>
    <message>
        <source>A conda environment that has Netwright</source>
        <translation>装有 Netwright 的 conda 环境</translation>
    </message>
    <message>
        <source>A fixed position</source>
        <translation>固定位置</translation>
    </message>
    <message>
        <source>A fixed size</source>
        <translation>固定大小</translation>
    </message>
    <message>
        <source>A fixed size, for any size of the input</source>
        <translation>固定大小，适用于任意输入大小</translation>
    </message>
    <message>
        <source>A folder of images with one subfolder per class, a table of targets, masks, or target images</source>
        <translation>每个类别一个子文件夹的图像文件夹、目标表格、掩码或目标图像</translation>
    </message>
    <message>
        <source>A function of your own</source>
        <translation>您自己的函数</translation>
    </message>
    <message>
        <source>A function of your own, called with the trials so far</source>
        <translation>您自己的函数，以迄今的试验为参数调用</translation>
    </message>
    <message>
        <source>A missing value is an error that names its line</source>
        <translation>缺失值为错误，并给出其所在行</translation>
    </message>
    <message>
        <source>A network of another program, with its weights, as a project</source>
        <translation>将其他程序的网络及其权重作为项目导入</translation>
    </message>
    <message>
        <source>A network of its own in one layer, once or several times in a row.</source>
        <translation>一个层中自成一体的网络，可执行一次或连续多次。</translation>
    </message>
    <message>
        <source>A neural ODE is one</source>
        <translation>神经 ODE 是其中一种</translation>
    </message>
    <message>
        <source>A response for each step</source>
        <translation>每个时间步一个响应</translation>
    </message>
    <message>
        <source>A response per text</source>
        <translation>每段文本一个响应</translation>
    </message>
    <message>
        <source>A sequence with one channel becomes indices, each number rounded</source>
        <translation>单通道序列变为索引，每个数取整</translation>
    </message>
    <message>
        <source>A sequence: all rows of a channel at each step, then those of the next one (T × C)</source>
        <translation>序列：每个时间步为一个通道的所有行，然后是下一个通道的 (T × C)</translation>
    </message>
    <message>
        <source>A sigmoid made of straight lines: 0 below -3, 1 above 3, x / 6 + 1/2 between.</source>
        <translation>由直线段构成的 sigmoid：低于 -3 为 0，高于 3 为 1，其间为 x / 6 + 1/2。</translation>
    </message>
    <message>
        <source>A small U-Net that labels every pixel.</source>
        <translation>为每个像素标注类别的小型 U-Net。</translation>
    </message>
    <message>
        <source>A small residual network for digits of 8 × 8 pixels.</source>
        <translation>用于 8 × 8 像素数字的小型残差网络。</translation>
    </message>
    <message>
        <source>A smaller network from the run that is shown: channels removed, or the smallest weights zero</source>
        <translation>由所显示的运行得到更小的网络：移除通道，或将最小的权重置零</translation>
    </message>
    <message>
        <source>A softmax of the negated scores: exp(-x) / sum exp(-x), so that the smallest gets most.</source>
        <translation>对取负后的分数应用 softmax：exp(-x) / sum exp(-x)，最小者所得最多。</translation>
    </message>
    <message>
        <source>A step attends to itself and to earlier steps</source>
        <translation>时间步关注自身及更早的时间步</translation>
    </message>
    <message>
        <source>A swish made of cheaper parts: x times the hard sigmoid of x.</source>
        <translation>由更省计算的部分构成的 swish：x 乘以 x 的硬 sigmoid。</translation>
    </message>
    <message>
        <source>A table of categories, each with an embedding.</source>
        <translation>由类别组成的表格，每个类别都有嵌入。</translation>
    </message>
    <message>
        <source>A table with such a cell is an error that names it</source>
        <translation>表格含有此类单元格为错误，并给出该单元格</translation>
    </message>
    <message>
        <source>A table, an array, text or sound: Netwright finds out what it is</source>
        <translation>表格、数组、文本或声音：Netwright 会自动识别其种类</translation>
    </message>
    <message>
        <source>A text on the canvas, at the pointer</source>
        <translation>在画布上的指针位置添加文本</translation>
    </message>
    <message>
        <source>A tokenizer.json of the library tokenizers, as models of Hugging Face have it</source>
        <translation>tokenizers 库的 tokenizer.json，与 Hugging Face 的模型所带的相同</translation>
    </message>
    <message>
        <source>A transformer over image patches of 16 × 16 pixels.</source>
        <translation>处理 16 × 16 像素图像块的变换器。</translation>
    </message>
    <message>
        <source>A transformer that learns to write letter by letter.</source>
        <translation>学习逐个字母书写的变换器。</translation>
    </message>
    <message>
        <source>A transformer that predicts the next token of a text.</source>
        <translation>预测文本下一个词元的变换器。</translation>
    </message>
    <message>
        <source>A trial that is worse than the median of the others at the same epoch is stopped</source>
        <translation>在同一轮比其他试验的中位数差的试验被停止</translation>
    </message>
    <message>
        <source>A vector of numbers per step</source>
        <translation>每个时间步一个数值向量</translation>
    </message>
    <message>
        <source>A whole transformer: an encoder reads the source, a decoder reads the target and looks at what that gives.</source>
        <translation>完整的变换器：编码器读取源序列，解码器读取目标序列并关注编码器的输出。</translation>
    </message>
    <message>
        <source>ALiBi: scores decrease with the distance of two steps</source>
        <translation>ALiBi：分数随两个时间步的距离减小</translation>
    </message>
    <message>
        <source>AUC</source>
        <translation>AUC</translation>
    </message>
    <message>
        <source>AUC on the validation split</source>
        <translation>验证部分的 AUC</translation>
    </message>
    <message>
        <source>Absolute error as a share of the target, mean over both</source>
        <translation>绝对误差占目标的比例，对两者取均值</translation>
    </message>
    <message>
        <source>Absolute error, mean over all elements</source>
        <translation>绝对误差，对所有元素取均值</translation>
    </message>
    <message>
        <source>Absolute error, mean over samples and responses</source>
        <translation>绝对误差，对样本和响应取均值</translation>
    </message>
    <message>
        <source>Absolute value</source>
        <translation>绝对值</translation>
    </message>
    <message>
        <source>Absolute value of each element</source>
        <translation>每个元素的绝对值</translation>
    </message>
    <message>
        <source>Acceleration</source>
        <translation>加速</translation>
    </message>
    <message>
        <source>Accelerations</source>
        <translation>加速方式</translation>
    </message>
    <message>
        <source>Accepted loss</source>
        <translation>可接受的损失</translation>
    </message>
    <message>
        <source>Account</source>
        <translation>账户</translation>
    </message>
    <message>
        <source>Account that is charged</source>
        <translation>计费的账户</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>准确度</translation>
    </message>
    <message>
        <source>Accuracy on the validation split</source>
        <translation>验证部分的准确度</translation>
    </message>
    <message>
        <source>Accuracy, size and speed</source>
        <translation>准确度、大小和速度</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>准确</translation>
    </message>
    <message>
        <source>Across samples</source>
        <translation>跨样本</translation>
    </message>
    <message>
        <source>Activation</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>Activation function between those two layers</source>
        <translation>这两层之间的激活函数</translation>
    </message>
    <message>
        <source>Activation function of the gates</source>
        <translation>各个门的激活函数</translation>
    </message>
    <message>
        <source>Activation function of the state</source>
        <translation>状态的激活函数</translation>
    </message>
    <message>
        <source>Activations on the canvas</source>
        <translation>画布上的激活值</translation>
    </message>
    <message>
        <source>Adam</source>
        <translation>Adam</translation>
    </message>
    <message>
        <source>Adam with Nesterov momentum</source>
        <translation>带 Nesterov 动量的 Adam</translation>
    </message>
    <message>
        <source>Adam with decoupled weight decay</source>
        <translation>权重衰减解耦的 Adam</translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation>AdamW</translation>
    </message>
    <message>
        <source>Adaptive moments</source>
        <translation>自适应矩估计</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>正在下载</translation>
    </message>
    <message>
        <source>The download was cancelled; it goes on from there the next time.</source>
        <translation>下载已取消；下次会从此处继续。</translation>
    </message>
    <message>
        <source>Published weights</source>
        <translation>已发布的权重</translation>
    </message>
    <message>
        <source>Not said</source>
        <translation>未说明</translation>
    </message>
    <message>
        <source>Not said by the publisher</source>
        <translation>发布者未说明</translation>
    </message>
    <message>
        <source>Not downloaded yet</source>
        <translation>尚未下载</translation>
    </message>
    <message>
        <source>Downloading {file}…</source>
        <translation>正在下载 {file}…</translation>
    </message>
    <message>
        <source>Address of the cluster</source>
        <translation>集群的地址</translation>
    </message>
    <message>
        <source>Adds a learned bias to each of its elements</source>
        <translation>为其每个元素加上可学习的偏置</translation>
    </message>
    <message>
        <source>Adds a learned bias to each output</source>
        <translation>为每个输出加上可学习的偏置</translation>
    </message>
    <message>
        <source>Adds a learned bias to each output channel</source>
        <translation>为每个输出通道加上可学习的偏置</translation>
    </message>
    <message>
        <source>Adds a learned bias to query, key, value and output</source>
        <translation>为查询、键、值和输出加上可学习的偏置</translation>
    </message>
    <message>
        <source>Adds a learned complex bias to each output</source>
        <translation>为每个输出加上可学习的复数偏置</translation>
    </message>
    <message>
        <source>Adds a learned shift to each channel</source>
        <translation>为每个通道加上可学习的偏移</translation>
    </message>
    <message>
        <source>Adds a learned vector to each step, one for each position, so that the order of the steps counts.</source>
        <translation>为每个时间步加上一个按位置学习的向量，使时间步的顺序起作用。</translation>
    </message>
    <message>
        <source>Adds input ports for the initial state, which is zero otherwise</source>
        <translation>添加初始状态的输入端口，否则初始状态为零</translation>
    </message>
    <message>
        <source>Adds its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.</source>
        <translation>按元素相加各输入。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Adds output ports for the state after the last step</source>
        <translation>添加最后一个时间步之后状态的输出端口</translation>
    </message>
    <message>
        <source>Adds random numbers while training, drawn anew each time: what comes behind learns not to mind them.</source>
        <translation>训练时加入随机数，每次重新抽取：后面的层因此学会不受其影响。</translation>
    </message>
    <message>
        <source>Adds sines and cosines of the position to each step, so that the order of the steps counts.</source>
        <translation>为每个时间步加上位置的正弦和余弦，使时间步的顺序起作用。</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) removed</source>
        <translation>
            <numerusform>移除 %n 个层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) added</source>
        <translation>
            <numerusform>添加 %n 个层</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n renamed</source>
        <translation>
            <numerusform>重命名 %n 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of another type</source>
        <translation>
            <numerusform>%n 个类型不同</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n value(s) changed</source>
        <translation>
            <numerusform>更改 %n 个值</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n connection(s) removed</source>
        <translation>
            <numerusform>移除 %n 个连接</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n connection(s) added</source>
        <translation>
            <numerusform>添加 %n 个连接</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n order(s) changed</source>
        <translation>
            <numerusform>更改 %n 个顺序</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n moved</source>
        <translation>
            <numerusform>移动 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>Compare projects</source>
        <translation>比较项目</translation>
    </message>
    <message>
        <source>After</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Zoom and scroll together</source>
        <translation>同步缩放和滚动</translation>
    </message>
    <message>
        <source>Show moved layers</source>
        <translation>显示移动的层</translation>
    </message>
    <message>
        <source>The two projects are equal.</source>
        <translation>两个项目相同。</translation>
    </message>
    <message>
        <source>Only positions of layers on the canvas differ.</source>
        <translation>仅层在画布上的位置不同。</translation>
    </message>
    <message>
        <source>Netwright projects</source>
        <translation>Netwright 项目</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>比较对象</translation>
    </message>
    <message>
        <source>The project cannot be compared</source>
        <translation>无法比较项目</translation>
    </message>
    <message>
        <source>{name}, with unsaved changes</source>
        <translation>{name}，含未保存的更改</translation>
    </message>
    <message>
        <source>After 2, 4 and 8 s, then every 10 s</source>
        <translation>在 2、4 和 8 秒之后，之后每 10 秒</translation>
    </message>
    <message>
        <source>After each residual connection, as first published (post-norm)</source>
        <translation>在每个残差连接之后，与最初发表的一致 (post-norm)</translation>
    </message>
    <message>
        <source>After epoch</source>
        <translation>本轮之后停止</translation>
    </message>
    <message>
        <source>After multiplication</source>
        <translation>相乘之后</translation>
    </message>
    <message>
        <source>AlexNet</source>
        <translation>AlexNet</translation>
    </message>
    <message>
        <source>Align corners</source>
        <translation>对齐角点</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>All activations are stored</source>
        <translation>存储所有激活值</translation>
    </message>
    <message>
        <source>All axes but the channels: steps, or height and width, and depth</source>
        <translation>除通道以外的所有轴：时间步，或高度和宽度，以及深度</translation>
    </message>
    <message>
        <source>All channels and positions of a sample together</source>
        <translation>一个样本的所有通道和位置合在一起</translation>
    </message>
    <message>
        <source>All channels and positions of an image or a volume</source>
        <translation>图像或体数据的所有通道和位置</translation>
    </message>
    <message>
        <source>All layers learn again, apart from those whose field Freeze is on</source>
        <translation>所有层重新开始学习，“冻结”字段已打开的层除外</translation>
    </message>
    <message>
        <source>All one</source>
        <translation>全为一</translation>
    </message>
    <message>
        <source>All zero</source>
        <translation>全为零</translation>
    </message>
    <message>
        <source>Alpha</source>
        <translation>Alpha</translation>
    </message>
    <message>
        <source>Also outputs the attention weights</source>
        <translation>同时输出注意力权重</translation>
    </message>
    <message>
        <source>Also outputs the positions of the maxima, for max unpooling</source>
        <translation>同时输出最大值的位置，用于最大去池化</translation>
    </message>
    <message>
        <source>Always compiled</source>
        <translation>始终编译</translation>
    </message>
    <message>
        <source>An ELU with the scale that keeps mean 0 and variance 1: 1.0507 · ELU(x) with alpha 1.6733.</source>
        <translation>带缩放的 ELU，使均值保持为 0、方差保持为 1：1.0507 · ELU(x)，alpha 为 1.6733。</translation>
    </message>
    <message>
        <source>An ELU without a kink for any alpha: max(0, x) + min(0, alpha (exp(x / alpha) - 1)).</source>
        <translation>对任意 alpha 都没有折点的 ELU：max(0, x) + min(0, alpha (exp(x / alpha) - 1))。</translation>
    </message>
    <message>
        <source>An LSTM reads a time series and predicts many steps ahead.</source>
        <translation>LSTM 读取时间序列并预测之后的多个时间步。</translation>
    </message>
    <message>
        <source>An LSTM that classifies four kinds of waves.</source>
        <translation>对四种波形分类的 LSTM。</translation>
    </message>
    <message>
        <source>An LSTM whose gates also see the memory, each by a learned weight for each unit.</source>
        <translation>各个门还能看到记忆的 LSTM，每个单元各有一个可学习的权重。</translation>
    </message>
    <message>
        <source>An LSTM with fewer parameters: input and state pass through projectors before they meet the weights.</source>
        <translation>参数更少的 LSTM：输入和状态在与权重相乘之前先经过投影。</translation>
    </message>
    <message>
        <source>An address of yours that is told when a run, an experiment or the queue has ended</source>
        <translation>运行、实验或队列结束时要通知的您的地址</translation>
    </message>
    <message>
        <source>An autoencoder that compresses and restores digits.</source>
        <translation>压缩并还原数字的自编码器。</translation>
    </message>
    <message>
        <source>An encoder and a decoder map one sequence to another.</source>
        <translation>编码器和解码器将一个序列映射为另一个序列。</translation>
    </message>
    <message>
        <source>An image that has Netwright, run by apptainer</source>
        <translation>装有 Netwright 的映像，由 apptainer 运行</translation>
    </message>
    <message>
        <source>An interpreter that has Netwright</source>
        <translation>装有 Netwright 的解释器</translation>
    </message>
    <message>
        <source>Analytic Morlet (Gabor) wavelet with a centre of 6 radians per step</source>
        <translation>解析 Morlet (Gabor) 小波，中心为每时间步 6 弧度</translation>
    </message>
    <message>
        <source>Angles of digits</source>
        <translation>数字的角度</translation>
    </message>
    <message>
        <source>Answers of the run that is shown for samples of your own</source>
        <translation>所显示的运行对您自己的样本给出的答案</translation>
    </message>
    <message>
        <source>Applies one function to each number: exp, log, sqrt, abs, sin, atan, erf, sign, floor and others.</source>
        <translation>对每个数应用一个函数：exp、log、sqrt、abs、sin、atan、erf、sign、floor 等。</translation>
    </message>
    <message>
        <source>Approximation</source>
        <translation>近似</translation>
    </message>
    <message>
        <source>Arc cosine</source>
        <translation>反余弦</translation>
    </message>
    <message>
        <source>Arc sine</source>
        <translation>反正弦</translation>
    </message>
    <message>
        <source>Arc tangent</source>
        <translation>反正切</translation>
    </message>
    <message>
        <source>Area erased</source>
        <translation>擦除面积</translation>
    </message>
    <message>
        <source>Area under the receiver operating curve, each class against the rest</source>
        <translation>受试者工作特征曲线下面积，每个类别对其余类别</translation>
    </message>
    <message>
        <source>Arithmetic</source>
        <translation>算术</translation>
    </message>
    <message>
        <source>Arrays</source>
        <translation>数组</translation>
    </message>
    <message>
        <source>Arrays in files of NumPy, safetensors, HDF5 or MATLAB, or those of MNIST or CIFAR</source>
        <translation>NumPy、safetensors、HDF5 或 MATLAB 文件中的数组，或 MNIST 或 CIFAR 的数组</translation>
    </message>
    <message>
        <source>As ONNX or as a PyTorch file</source>
        <translation>导出为 ONNX 或 PyTorch 文件</translation>
    </message>
    <message>
        <source>As bf16 with half precision</source>
        <translation>与 bf16 相同，但采用半精度</translation>
    </message>
    <message>
        <source>As break, unless more than one step in 20 is longer than usual, as without weekends</source>
        <translation>与 break 相同，除非每 20 个时间步中有一个以上长于通常间隔，例如不含周末</translation>
    </message>
    <message>
        <source>As entered</source>
        <translation>按输入的值</translation>
    </message>
    <message>
        <source>As impute where a column has missing values</source>
        <translation>列有缺失值时与 impute 相同</translation>
    </message>
    <message>
        <source>As in MATLAB</source>
        <translation>与 MATLAB 相同</translation>
    </message>
    <message>
        <source>As most numbers of the first rows show it</source>
        <translation>按前几行大多数数值所示</translation>
    </message>
    <message>
        <source>As none, and as inputs for a split that would have no window otherwise</source>
        <translation>与 none 相同，对否则没有窗的拆分还用作输入</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>按存储原样</translation>
    </message>
    <message>
        <source>As the dates tell</source>
        <translation>由日期判断</translation>
    </message>
    <message>
        <source>As the input with as many axes, else the usual one: features, sequence, image, volume</source>
        <translation>轴数相同时与输入一样，否则为常用布局：特征、序列、图像、体数据</translation>
    </message>
    <message>
        <source>As trained</source>
        <translation>按训练时</translation>
    </message>
    <message>
        <source>As zeros: the sum is always divided by the size of the window</source>
        <translation>与 zeros 相同：总和总是除以窗的大小</translation>
    </message>
    <message>
        <source>Asymmetric</source>
        <translation>非对称</translation>
    </message>
    <message>
        <source>At every token, the one that follows: a language model</source>
        <translation>在每个词元处预测其后的词元：语言模型</translation>
    </message>
    <message>
        <source>At random</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>At random by the seed, each class by its share</source>
        <translation>按种子随机拆分，每个类别按其比例</translation>
    </message>
    <message>
        <source>At random, with all samples of a group, such as a patient, in the same split</source>
        <translation>随机拆分，同一组（例如同一患者）的所有样本在同一部分</translation>
    </message>
    <message>
        <source>Show again</source>
        <translation>重新显示</translation>
    </message>
    <message>
        <source>Where a layer looks for a class</source>
        <translation>层为某个类别关注的位置</translation>
    </message>
    <message>
        <source>What each pixel, step or column adds</source>
        <translation>每个像素、时间步或列的贡献</translation>
    </message>
    <message>
        <source>How the answer changes where a part is hidden</source>
        <translation>遮住一部分后答案如何变化</translation>
    </message>
    <message>
        <source>What a layer gives for a sample</source>
        <translation>层对一个样本的输出</translation>
    </message>
    <message>
        <source>What a convolution has learned</source>
        <translation>卷积所学到的内容</translation>
    </message>
    <message>
        <source>Images that a class or a channel answers to most</source>
        <translation>使某个类别或通道响应最强的图像</translation>
    </message>
    <message>
        <source>Column importance</source>
        <translation>列重要性</translation>
    </message>
    <message>
        <source>How much worse it gets without a column</source>
        <translation>缺少某一列时变差多少</translation>
    </message>
    <message>
        <source>The mean answer over the values of a column</source>
        <translation>随某一列的值变化的平均答案</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>What each step takes from the others</source>
        <translation>每个时间步从其他时间步获取的内容</translation>
    </message>
    <message>
        <source>Samples as points, by what a layer gives for them</source>
        <translation>以点表示的样本，按层对其的输出排布</translation>
    </message>
    <message>
        <source>Show explains what the network looks at.</source>
        <translation>单击“显示”可解释网络关注的内容。</translation>
    </message>
    <message>
        <source>Reduction to two dimensions</source>
        <translation>降到二维</translation>
    </message>
    <message>
        <source>Sample </source>
        <translation>样本 </translation>
    </message>
    <message>
        <source>Explain a file of your own</source>
        <translation>解释您自己的文件</translation>
    </message>
    <message>
        <source>Predicted class</source>
        <translation>预测的类别</translation>
    </message>
    <message>
        <source>No layer</source>
        <translation>不选层</translation>
    </message>
    <message>
        <source>Automatic layer</source>
        <translation>自动选择层</translation>
    </message>
    <message>
        <source>Explain a file</source>
        <translation>解释文件</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>正在查看…</translation>
    </message>
    <message>
        <source>Looking: {progress}</source>
        <translation>正在查看：{progress}</translation>
    </message>
    <message>
        <source>{path} cannot be read. Show it again.</source>
        <translation>无法读取 {path}。请重新显示。</translation>
    </message>
    <message>
        <source>The values cannot be saved</source>
        <translation>无法保存这些值</translation>
    </message>
    <message>
        <source>Saved {name}.</source>
        <translation>已保存 {name}。</translation>
    </message>
    <message>
        <source>Attention mask</source>
        <translation>注意力掩码</translation>
    </message>
    <message>
        <source>Attention to another sequence: queries from one, keys and values from others, with separate weights.</source>
        <translation>对另一序列的注意力：查询来自一个序列，键和值来自其他序列，各有单独的权重。</translation>
    </message>
    <message>
        <source>Attentions side by side</source>
        <translation>并列的注意力数</translation>
    </message>
    <message>
        <source>Attributes</source>
        <translation>属性</translation>
    </message>
    <message>
        <source>Attributes of the operator as a JSON object</source>
        <translation>运算符的属性，以 JSON 对象表示</translation>
    </message>
    <message>
        <source>Attribution on the canvas</source>
        <translation>画布上的归因</translation>
    </message>
    <message>
        <source>Audio files</source>
        <translation>音频文件</translation>
    </message>
    <message>
        <source>Augmentation</source>
        <translation>数据增强</translation>
    </message>
    <message>
        <source>Automatic restarts from the last checkpoint after a worker dies or hangs</source>
        <translation>工作单元终止或挂起后，从最近的检查点自动重启的次数</translation>
    </message>
    <message>
        <source>Average of weights that is tested and kept</source>
        <translation>用于测试并保留的权重平均</translation>
    </message>
    <message>
        <source>Average over classes</source>
        <translation>对类别取平均</translation>
    </message>
    <message>
        <source>Averaging interval</source>
        <translation>平均区间</translation>
    </message>
    <message>
        <source>Axes of .mat files</source>
        <translation>.mat 文件的轴</translation>
    </message>
    <message>
        <source>Axes of a spectrogram: an image for convolutions, or a sequence for recurrent layers</source>
        <translation>频谱图的轴：供卷积使用的图像，或供循环层使用的序列</translation>
    </message>
    <message>
        <source>Axes of the output, after the batch</source>
        <translation>输出的轴，位于批量之后</translation>
    </message>
    <message>
        <source>Axes over which mean and variance are computed</source>
        <translation>计算均值和方差所沿的轴</translation>
    </message>
    <message>
        <source>Axis</source>
        <translation>轴</translation>
    </message>
    <message>
        <source>Axis along which the inputs are concatenated</source>
        <translation>串联各输入所沿的轴</translation>
    </message>
    <message>
        <source>Axis along which values are repeated</source>
        <translation>重复值所沿的轴</translation>
    </message>
    <message>
        <source>Axis along which values are shifted</source>
        <translation>移动值所沿的轴</translation>
    </message>
    <message>
        <source>Axis along which values are summed</source>
        <translation>对值求和所沿的轴</translation>
    </message>
    <message>
        <source>Axis of the vectors</source>
        <translation>向量的轴</translation>
    </message>
    <message>
        <source>Axis to reduce</source>
        <translation>要归约的轴</translation>
    </message>
    <message>
        <source>Axis to reverse</source>
        <translation>要反转的轴</translation>
    </message>
    <message>
        <source>Axis to slice</source>
        <translation>要切片的轴</translation>
    </message>
    <message>
        <source>Axis to split</source>
        <translation>要拆分的轴</translation>
    </message>
    <message>
        <source>BF16</source>
        <translation>BF16</translation>
    </message>
    <message>
        <source>Backtracking</source>
        <translation>回溯</translation>
    </message>
    <message>
        <source>Bad samples</source>
        <translation>不良样本</translation>
    </message>
    <message>
        <source>Balance pipeline stages</source>
        <translation>均衡流水线阶段</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Batch excluded</source>
        <translation>不含批量</translation>
    </message>
    <message>
        <source>Batch normalisation statistics</source>
        <translation>批量归一化统计量</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>批量大小</translation>
    </message>
    <message>
        <source>Batches</source>
        <translation>批量</translation>
    </message>
    <message>
        <source>Batches are padded to their longest sequence</source>
        <translation>将批量填充到其最长的序列</translation>
    </message>
    <message>
        <source>Batches sequences of similar length</source>
        <translation>将长度相近的序列组成批量</translation>
    </message>
    <message>
        <source>Bayesian, Gaussian process</source>
        <translation>贝叶斯，高斯过程</translation>
    </message>
    <message>
        <source>Bayesian, Parzen estimator</source>
        <translation>贝叶斯，Parzen 估计器</translation>
    </message>
    <message>
        <source>Bayesian: Gaussian process</source>
        <translation>贝叶斯：高斯过程</translation>
    </message>
    <message>
        <source>Bayesian: tree-structured Parzen estimator</source>
        <translation>贝叶斯：树形 Parzen 估计器</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>Before each part, which trains more easily in deep networks (pre-norm)</source>
        <translation>在每个部分之前，深层网络中更易训练 (pre-norm)</translation>
    </message>
    <message>
        <source>Before multiplication</source>
        <translation>相乘之前</translation>
    </message>
    <message>
        <source>Begin with the project</source>
        <translation>从项目本身开始</translation>
    </message>
    <message>
        <source>Beside the file where they have more than 2 GB, which one ONNX file cannot hold</source>
        <translation>超过 2 GB 时放在文件旁，单个 ONNX 文件容纳不下</translation>
    </message>
    <message>
        <source>Best validation</source>
        <translation>最佳验证</translation>
    </message>
    <message>
        <source>Last validation</source>
        <translation>最近的验证</translation>
    </message>
    <message>
        <source>Iteration</source>
        <translation>迭代</translation>
    </message>
    <message>
        <source>Elapsed</source>
        <translation>已用时间</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>Baselines</source>
        <translation>基线</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批量</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>硬件</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>{text}, on disk</source>
        <translation>{text}，在磁盘上</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>尚无运行</translation>
    </message>
    <message>
        <source>Reads the data: {count}</source>
        <translation>正在读取数据：{count}</translation>
    </message>
    <message>
        <source>Epoch {epoch:,.0f}</source>
        <translation>第 {epoch:,.0f} 轮</translation>
    </message>
    <message>
        <source>Refused: {reason}</source>
        <translation>已拒绝：{reason}</translation>
    </message>
    <message>
        <source>Resumed: {explanation}</source>
        <translation>已继续：{explanation}</translation>
    </message>
    <message>
        <source>Trial</source>
        <translation>试验</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>主机</translation>
    </message>
    <message>
        <source>Purple</source>
        <translation>紫色</translation>
    </message>
    <message>
        <source>◗ Stopped early</source>
        <translation>◗ 提前停止</translation>
    </message>
    <message>
        <source>✕ Refused</source>
        <translation>✕ 已拒绝</translation>
    </message>
    <message>
        <source>◌ Interrupted</source>
        <translation>◌ 已中断</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>{range}, log</source>
        <translation>{range}，对数</translation>
    </message>
    <message numerus="yes">
        <source>{names} and %n more</source>
        <translation>
            <numerusform>{names} 等，另有 %n 项</numerusform>
        </translation>
    </message>
    <message>
        <source>Table of values</source>
        <translation>值的表格</translation>
    </message>
    <message numerus="yes">
        <source>%n fold(s)</source>
        <translation>
            <numerusform>%n 折</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n repeat(s)</source>
        <translation>
            <numerusform>重复 %n 次</numerusform>
        </translation>
    </message>
    <message>
        <source>{count:,} done</source>
        <translation>已完成 {count:,} 次</translation>
    </message>
    <message>
        <source>{count:,} of {total:,} done</source>
        <translation>已完成 {count:,} 次，共 {total:,} 次</translation>
    </message>
    <message>
        <source>{count:,} failed</source>
        <translation>失败 {count:,} 次</translation>
    </message>
    <message>
        <source>{count:,} running</source>
        <translation>正在运行 {count:,} 次</translation>
    </message>
    <message>
        <source>{state}. Waits: {reason}</source>
        <translation>{state}。正在等待：{reason}</translation>
    </message>
    <message>
        <source>{state}, no trial has succeeded: {reason}</source>
        <translation>{state}，没有试验成功：{reason}</translation>
    </message>
    <message>
        <source>The data has changed since:</source>
        <translation>此后数据发生了变化：</translation>
    </message>
    <message>
        <source>released</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>Epochs {before:,} → {after:,}</source>
        <translation>轮数 {before:,} → {after:,}</translation>
    </message>
    <message>
        <source>Epoch {epoch:,} of {epochs}</source>
        <translation>第 {epoch:,} / {epochs} 轮</translation>
    </message>
    <message>
        <source>{iteration:,} of {total:,}</source>
        <translation>{iteration:,} / {total:,}</translation>
    </message>
    <message>
        <source>{rate:,.0f} samples/s</source>
        <translation>{rate:,.0f} 样本/s</translation>
    </message>
    <message>
        <source>Beta</source>
        <translation>Beta</translation>
    </message>
    <message>
        <source>Bias</source>
        <translation>偏置</translation>
    </message>
    <message>
        <source>Bias L2 factor</source>
        <translation>偏置 L2 因子</translation>
    </message>
    <message>
        <source>Bias initialiser</source>
        <translation>偏置初始化函数</translation>
    </message>
    <message>
        <source>Bias rate factor</source>
        <translation>偏置学习率因子</translation>
    </message>
    <message>
        <source>Bicycle counts</source>
        <translation>自行车计数</translation>
    </message>
    <message>
        <source>Binary cross entropy</source>
        <translation>二元交叉熵</translation>
    </message>
    <message>
        <source>Bits</source>
        <translation>位数</translation>
    </message>
    <message>
        <source>Blank, or from a template</source>
        <translation>空白项目，或从模板创建</translation>
    </message>
    <message>
        <source>Block length</source>
        <translation>块长度</translation>
    </message>
    <message>
        <source>Block stride</source>
        <translation>块步幅</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Border</source>
        <translation>边界</translation>
    </message>
    <message>
        <source>Border added before a random crop to the old size</source>
        <translation>在随机裁剪回原大小之前添加的边界</translation>
    </message>
    <message>
        <source>Both parts uniform from 0 to 1 / (inputs · outputs), as in the paper&apos;s code</source>
        <translation>两部分在 0 到 1 / (输入数 · 输出数) 之间均匀分布，与论文代码一致</translation>
    </message>
    <message>
        <source>Brightness</source>
        <translation>亮度</translation>
    </message>
    <message>
        <source>Bucket by length</source>
        <translation>按长度分桶</translation>
    </message>
    <message>
        <source>By a column</source>
        <translation>按列</translation>
    </message>
    <message>
        <source>By folders</source>
        <translation>按文件夹</translation>
    </message>
    <message>
        <source>By groups</source>
        <translation>按组</translation>
    </message>
    <message>
        <source>By hand</source>
        <translation>手动</translation>
    </message>
    <message>
        <source>By name, type, size or problem, inside blocks too</source>
        <translation>按名称、类型、大小或问题查找，包括模块内的层</translation>
    </message>
    <message>
        <source>By processes of their own: faster for small files on many cores, some 40 MiB each</source>
        <translation>由独立进程读取：在多核上读取小文件更快，每个约 40 MiB</translation>
    </message>
    <message>
        <source>By processes where a worker has at least 2 cores and 2,000 samples, else by threads</source>
        <translation>工作单元至少有 2 个核和 2,000 个样本时由进程读取，否则由线程读取</translation>
    </message>
    <message>
        <source>By threads of the worker, which take turns with each other in what Python does itself</source>
        <translation>由工作单元的线程读取，Python 自身的操作需轮流进行</translation>
    </message>
    <message>
        <source>By what the responses are: text, truth values and few whole numbers are classes, several columns of truth values are labels</source>
        <translation>由响应判断：文本、真值和少量整数为类别，多列真值为标签</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>C</source>
        <translation>C</translation>
    </message>
    <message>
        <source>C × D × H × W</source>
        <translation>C × D × H × W</translation>
    </message>
    <message>
        <source>C × H × W</source>
        <translation>C × H × W</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>CPU cores that trials on the CPU may use together</source>
        <translation>CPU 上的试验可共同使用的 CPU 核数</translation>
    </message>
    <message>
        <source>CPU threads per worker</source>
        <translation>每个工作单元的 CPU 线程数</translation>
    </message>
    <message>
        <source>CTC</source>
        <translation>CTC</translation>
    </message>
    <message>
        <source>CTC blank</source>
        <translation>CTC 空白符</translation>
    </message>
    <message>
        <source>Calibration samples</source>
        <translation>校准样本</translation>
    </message>
    <message>
        <source>Categories, as other texts</source>
        <translation>类别，与其他文本相同</translation>
    </message>
    <message>
        <source>Category encoding</source>
        <translation>类别编码</translation>
    </message>
    <message>
        <source>Category of missing texts</source>
        <translation>缺失文本的类别</translation>
    </message>
    <message>
        <source>Causal</source>
        <translation>因果</translation>
    </message>
    <message>
        <source>Ceiling</source>
        <translation>上限</translation>
    </message>
    <message>
        <source>Centre</source>
        <translation>中心</translation>
    </message>
    <message>
        <source>Chain</source>
        <translation>链</translation>
    </message>
    <message>
        <source>Channel</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>Channel of the output that represents the blank</source>
        <translation>代表空白符的输出通道</translation>
    </message>
    <message>
        <source>Channel only</source>
        <translation>仅通道</translation>
    </message>
    <message>
        <source>Channels</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>Channels of each sound</source>
        <translation>每段声音的声道</translation>
    </message>
    <message>
        <source>Channels of features and sequences</source>
        <translation>特征和序列的通道</translation>
    </message>
    <message>
        <source>Channels that form a complex number</source>
        <translation>构成一个复数的通道</translation>
    </message>
    <message>
        <source>Channels × rows × columns: rows are frequencies or scales, columns are times (C × H × W)</source>
        <translation>通道 × 行 × 列：行为频率或尺度，列为时间 (C × H × W)</translation>
    </message>
    <message>
        <source>Channels: depth concatenation</source>
        <translation>通道：深度串联</translation>
    </message>
    <message>
        <source>Chebyshev</source>
        <translation>切比雪夫</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Checkpoint frequency</source>
        <translation>检查点频率</translation>
    </message>
    <message>
        <source>Checkpoint unit</source>
        <translation>检查点单位</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Checkpoints kept</source>
        <translation>保留的检查点数</translation>
    </message>
    <message>
        <source>Checksum</source>
        <translation>校验和</translation>
    </message>
    <message>
        <source>Checksum of the file</source>
        <translation>文件的校验和</translation>
    </message>
    <message>
        <source>Chosen by the targets</source>
        <translation>由目标决定</translation>
    </message>
    <message>
        <source>Circular</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Class or function</source>
        <translation>类或函数</translation>
    </message>
    <message>
        <source>Class weighting</source>
        <translation>类别加权</translation>
    </message>
    <message>
        <source>Class weights</source>
        <translation>类别权重</translation>
    </message>
    <message>
        <source>Class with __len__ and __getitem__, or function without arguments that returns such a data set or arrays</source>
        <translation>带有 __len__ 和 __getitem__ 的类，或返回此类数据集或数组的无参数函数</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Classes in order, at no given step, for the CTC loss (arrays N L)</source>
        <translation>按顺序的类别，不在给定的时间步，用于 CTC 损失（数组 N L）</translation>
    </message>
    <message>
        <source>Classes of their own</source>
        <translation>单独的类别</translation>
    </message>
    <message>
        <source>Classical Runge-Kutta: fourth order, four evaluations per step</source>
        <translation>经典 Runge-Kutta：四阶，每步四次计算</translation>
    </message>
    <message>
        <source>Clear pipeline stages</source>
        <translation>清除流水线阶段</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>集群</translation>
    </message>
    <message>
        <source>Coefficients</source>
        <translation>系数</translation>
    </message>
    <message>
        <source>Column</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Column of a table that holds the texts</source>
        <translation>表格中包含文本的列</translation>
    </message>
    <message>
        <source>Column of a table that names the CSV or Parquet file of each sequence, relative to the table&apos;s folder</source>
        <translation>表格中给出每个序列的 CSV 或 Parquet 文件的列，相对于表格所在文件夹</translation>
    </message>
    <message>
        <source>Column of a table that names the audio files, relative to the table&apos;s folder</source>
        <translation>表格中给出音频文件的列，相对于表格所在文件夹</translation>
    </message>
    <message>
        <source>Column of sounds</source>
        <translation>声音所在列</translation>
    </message>
    <message>
        <source>Column of texts</source>
        <translation>文本所在列</translation>
    </message>
    <message>
        <source>Column or array that divides the samples, and is no input then: names of splits (column), groups (grouped</source>
        <translation>用于拆分样本的列或数组，因此不作为输入：拆分的名称（column）、组（grouped</translation>
    </message>
    <message>
        <source>Column that says which sequence a row of a long table belongs to</source>
        <translation>说明长表中某行属于哪个序列的列</translation>
    </message>
    <message>
        <source>Column that tells several series apart, such as the number of a sensor</source>
        <translation>区分多个序列的列，例如传感器的编号</translation>
    </message>
    <message>
        <source>Column to predict (tables</source>
        <translation>要预测的列（表格</translation>
    </message>
    <message>
        <source>Column with the time of each row: numbers, or dates such as 2024-01-31 or 2024-01</source>
        <translation>每行时间所在的列：数值，或 2024-01-31、2024-01 之类的日期</translation>
    </message>
    <message>
        <source>Column, row, depth</source>
        <translation>列、行、深度</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Columns left out</source>
        <translation>排除的列</translation>
    </message>
    <message>
        <source>Columns of targets</source>
        <translation>目标所在列</translation>
    </message>
    <message>
        <source>Columns of the input projector</source>
        <translation>输入投影的列数</translation>
    </message>
    <message>
        <source>Columns of the output projector</source>
        <translation>输出投影的列数</translation>
    </message>
    <message>
        <source>Columns of the table that hold the class, labels or numbers of each image, separated by commas</source>
        <translation>表格中包含每幅图像的类别、标签或数值的列，以逗号分隔</translation>
    </message>
    <message>
        <source>Columns that are neither input nor response, separated by commas, such as the number of a row</source>
        <translation>既非输入也非响应的列，以逗号分隔，例如行号</translation>
    </message>
    <message>
        <source>Columns whose values are known for the steps to predict, such as the hour, holidays or a weather forecast, separated by commas</source>
        <translation>在要预测的时间步上其值已知的列，例如小时、节假日或天气预报，以逗号分隔</translation>
    </message>
    <message>
        <source>Combination</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>Comma</source>
        <translation>逗号</translation>
    </message>
    <message>
        <source>Compare accuracy, size and speed with torch&apos;s</source>
        <translation>将准确度、大小和速度与 torch 的结果比较</translation>
    </message>
    <message>
        <source>Compare each layer with torch also where the outputs agree</source>
        <translation>即使输出一致，也将每层与 torch 比较</translation>
    </message>
    <message>
        <source>Compare layer by layer</source>
        <translation>逐层比较</translation>
    </message>
    <message>
        <source>Compare versions</source>
        <translation>比较版本</translation>
    </message>
    <message>
        <source>Compares a signal with wavelets of many lengths, at each step: a scalogram.</source>
        <translation>在每个时间步将信号与多种长度的小波比较：尺度图。</translation>
    </message>
    <message>
        <source>Compilation of the network for its sizes</source>
        <translation>针对网络的大小对其进行编译</translation>
    </message>
    <message>
        <source>Compile</source>
        <translation>编译</translation>
    </message>
    <message>
        <source>Compiled on a GPU if that is faster</source>
        <translation>在 GPU 上若更快则编译</translation>
    </message>
    <message>
        <source>Compresses its input to a short code and restores it.</source>
        <translation>将输入压缩为短编码并还原。</translation>
    </message>
    <message>
        <source>Computation of Φ</source>
        <translation>Φ 的计算方式</translation>
    </message>
    <message>
        <source>Computes across the samples of a batch: what a sample gives depends on the others</source>
        <translation>跨批量中的样本计算：一个样本的结果取决于其他样本</translation>
    </message>
    <message>
        <source>Computes an operator of an imported ONNX file for which there is no layer.</source>
        <translation>计算导入的 ONNX 文件中没有对应层的运算符。</translation>
    </message>
    <message>
        <source>Computes each sample by itself, for a file of one sample</source>
        <translation>对每个样本单独计算，适合单个样本的文件</translation>
    </message>
    <message>
        <source>Computes the loss on normalised responses</source>
        <translation>对归一化的响应计算损失</translation>
    </message>
    <message>
        <source>Conda</source>
        <translation>Conda</translation>
    </message>
    <message>
        <source>Conda environment</source>
        <translation>Conda 环境</translation>
    </message>
    <message>
        <source>Conditions that the values of a trial fulfil: network.conv_1.filters &lt;= network.conv_2.filters</source>
        <translation>试验的值须满足的条件：network.conv_1.filters &lt;= network.conv_2.filters</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>常量</translation>
    </message>
    <message>
        <source>Constant added to each value</source>
        <translation>加到每个值上的常量</translation>
    </message>
    <message>
        <source>Constant added to the divisor to avoid division by zero</source>
        <translation>加到除数上的常量，以避免除以零</translation>
    </message>
    <message>
        <source>Constant added to the mean square to avoid division by zero</source>
        <translation>加到均方值上的常量，以避免除以零</translation>
    </message>
    <message>
        <source>Constant added to the variance to avoid division by zero</source>
        <translation>加到方差上的常量，以避免除以零</translation>
    </message>
    <message>
        <source>Constant learn rate while weights are averaged</source>
        <translation>对权重取平均期间的恒定学习率</translation>
    </message>
    <message>
        <source>Constants</source>
        <translation>常量</translation>
    </message>
    <message>
        <source>Constants in the file beside the project: name, number format and sizes</source>
        <translation>工程旁文件中的常量：名称、数值格式和大小</translation>
    </message>
    <message>
        <source>Constraints</source>
        <translation>约束</translation>
    </message>
    <message>
        <source>Constraints and code</source>
        <translation>约束和代码</translation>
    </message>
    <message>
        <source>Container</source>
        <translation>容器</translation>
    </message>
    <message>
        <source>Content</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Content of each step</source>
        <translation>每个时间步的内容</translation>
    </message>
    <message>
        <source>Content of the rows</source>
        <translation>各行的内容</translation>
    </message>
    <message>
        <source>Contrast</source>
        <translation>对比度</translation>
    </message>
    <message>
        <source>Convention</source>
        <translation>约定</translation>
    </message>
    <message>
        <source>Convolution</source>
        <translation>卷积</translation>
    </message>
    <message>
        <source>Convolves a whole image at once: its lowest frequencies are multiplied by learned matrices. (FNO)</source>
        <translation>一次对整幅图像做卷积：其最低频率与可学习的矩阵相乘。(FNO)</translation>
    </message>
    <message>
        <source>Convolves a whole sequence at once: its lowest frequencies are multiplied by learned matrices. (FNO)</source>
        <translation>一次对整个序列做卷积：其最低频率与可学习的矩阵相乘。(FNO)</translation>
    </message>
    <message>
        <source>Convolves a whole volume at once: its lowest frequencies are multiplied by learned matrices. (FNO)</source>
        <translation>一次对整个体数据做卷积：其最低频率与可学习的矩阵相乘。(FNO)</translation>
    </message>
    <message>
        <source>Coordinates</source>
        <translation>坐标</translation>
    </message>
    <message>
        <source>Cores in use</source>
        <translation>使用的核数</translation>
    </message>
    <message>
        <source>Cores per worker</source>
        <translation>每个工作单元的核数</translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation>余弦</translation>
    </message>
    <message>
        <source>Counted from</source>
        <translation>计数起点</translation>
    </message>
    <message>
        <source>Course of the learn rate over the run</source>
        <translation>学习率在运行中的变化过程</translation>
    </message>
    <message>
        <source>Crop to the size</source>
        <translation>裁剪到该大小</translation>
    </message>
    <message>
        <source>Cropping</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>Cropping on both sides of each axis, or same: the output is as large as the input times the stride</source>
        <translation>每个轴两侧的裁剪，或 same：输出大小为输入乘以步幅</translation>
    </message>
    <message>
        <source>Cross entropy</source>
        <translation>交叉熵</translation>
    </message>
    <message>
        <source>Cross-entropy times (1 - p)^gamma</source>
        <translation>交叉熵乘以 (1 - p)^gamma</translation>
    </message>
    <message>
        <source>Cross-entropy under MATLAB&apos;s name for class numbers</source>
        <translation>采用 MATLAB 名称的类别编号交叉熵</translation>
    </message>
    <message>
        <source>Cross-validation</source>
        <translation>交叉验证</translation>
    </message>
    <message>
        <source>Cross-validation: one of k equal parts validates, the others train</source>
        <translation>交叉验证：k 个相等的份中一份用于验证，其余用于训练</translation>
    </message>
    <message>
        <source>Cubic</source>
        <translation>三次</translation>
    </message>
    <message>
        <source>Cubic interpolation of two positions on each side, along each axis</source>
        <translation>沿每个轴对两侧各两个位置做三次插值</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>Custom code</source>
        <translation>自定义代码</translation>
    </message>
    <message>
        <source>Custom metric on the validation split</source>
        <translation>验证部分的自定义度量</translation>
    </message>
    <message>
        <source>CutMix</source>
        <translation>CutMix</translation>
    </message>
    <message>
        <source>Cuts a part out of a volume: as large as another input, or as told; from the middle, or from a place on.</source>
        <translation>从体数据中裁剪一部分：与另一输入一样大，或按指定大小；取自中间，或从某个位置开始。</translation>
    </message>
    <message>
        <source>Cuts a part out of an image: as large as another input, or as told; from the middle, or from a place on.</source>
        <translation>从图像中裁剪一部分：与另一输入一样大，或按指定大小；取自中间，或从某个位置开始。</translation>
    </message>
    <message>
        <source>Cuts an image into patches and makes a vector of each by learned weights: an image becomes a sequence.</source>
        <translation>将图像切成块，并用可学习的权重将每块变为一个向量：图像变为序列。</translation>
    </message>
    <message>
        <source>Cuts one axis into equal parts, one per output port. (chunk)</source>
        <translation>将一个轴切成相等的几部分，每个输出端口一部分。(chunk)</translation>
    </message>
    <message>
        <source>Cycle period</source>
        <translation>循环周期</translation>
    </message>
    <message>
        <source>Cycle rise</source>
        <translation>循环上升比例</translation>
    </message>
    <message>
        <source>Cycle top factor</source>
        <translation>循环峰值因子</translation>
    </message>
    <message>
        <source>Cyclical</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>Damping at the start</source>
        <translation>开始时的阻尼</translation>
    </message>
    <message>
        <source>Damping decrease factor</source>
        <translation>阻尼减小因子</translation>
    </message>
    <message>
        <source>Damping increase factor</source>
        <translation>阻尼增大因子</translation>
    </message>
    <message>
        <source>Data parallel</source>
        <translation>数据并行</translation>
    </message>
    <message>
        <source>Data source</source>
        <translation>数据源</translation>
    </message>
    <message>
        <source>Data values</source>
        <translation>数据值</translation>
    </message>
    <message>
        <source>Dates</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Daubechies 2</source>
        <translation>Daubechies 2</translation>
    </message>
    <message>
        <source>Daubechies 4</source>
        <translation>Daubechies 4</translation>
    </message>
    <message>
        <source>Daubechies&apos; least asymmetric, four vanishing moments, eight steps</source>
        <translation>Daubechies 最小不对称小波，四阶消失矩，八个时间步</translation>
    </message>
    <message>
        <source>Daubechies, four vanishing moments, eight steps</source>
        <translation>Daubechies，四阶消失矩，八个时间步</translation>
    </message>
    <message>
        <source>Daubechies, two vanishing moments, four steps</source>
        <translation>Daubechies，二阶消失矩，四个时间步</translation>
    </message>
    <message>
        <source>Day first</source>
        <translation>日在前</translation>
    </message>
    <message>
        <source>Days since the first</source>
        <translation>距首个日期的天数</translation>
    </message>
    <message>
        <source>Days since the first date of the training rows, with fractions</source>
        <translation>距训练行首个日期的天数，含小数</translation>
    </message>
    <message>
        <source>Deals the channels out anew, so that each group behind it gets some of every group before it.</source>
        <translation>重新分配通道，使其后的每一组都从之前的各组中得到一部分。</translation>
    </message>
    <message>
        <source>Decay</source>
        <translation>衰减</translation>
    </message>
    <message>
        <source>Decay in the schedule of the momentum</source>
        <translation>动量调度中的衰减</translation>
    </message>
    <message>
        <source>Decay of the mean gradient, 0 to 1</source>
        <translation>梯度均值的衰减，0 到 1</translation>
    </message>
    <message>
        <source>Decay of the mean squared gradient, 0 to 1</source>
        <translation>梯度平方均值的衰减，0 到 1</translation>
    </message>
    <message>
        <source>Decimal mark</source>
        <translation>小数点符号</translation>
    </message>
    <message>
        <source>Decimal mark of the numbers in a CSV table</source>
        <translation>CSV 表格中数值的小数点符号</translation>
    </message>
    <message>
        <source>Decoded cache</source>
        <translation>解码缓存</translation>
    </message>
    <message>
        <source>Decoder layers</source>
        <translation>解码器层数</translation>
    </message>
    <message>
        <source>DenseNet-121</source>
        <translation>DenseNet-121</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>深度</translation>
    </message>
    <message>
        <source>Depth × height × width</source>
        <translation>深度 × 高度 × 宽度</translation>
    </message>
    <message>
        <source>Depth × height × width of the part</source>
        <translation>该部分的深度 × 高度 × 宽度</translation>
    </message>
    <message>
        <source>Depth, column, row</source>
        <translation>深度、列、行</translation>
    </message>
    <message>
        <source>Depth, width and image size scaled in balance.</source>
        <translation>均衡缩放深度、宽度和图像大小。</translation>
    </message>
    <message>
        <source>Depth: one behind the other</source>
        <translation>深度：前后排列</translation>
    </message>
    <message>
        <source>Deterministic</source>
        <translation>确定性</translation>
    </message>
    <message>
        <source>Deviation</source>
        <translation>偏差</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>驱动程序</translation>
    </message>
    <message>
        <source>build</source>
        <translation>构建版本</translation>
    </message>
    <message>
        <source>capability</source>
        <translation>计算能力</translation>
    </message>
    <message>
        <source>peer access</source>
        <translation>对等访问</translation>
    </message>
    <message>
        <source>rendezvous</source>
        <translation>会合</translation>
    </message>
    <message>
        <source>Detecting the devices of this machine…</source>
        <translation>正在检测此计算机的设备…</translation>
    </message>
    <message>
        <source>not available: {reason}</source>
        <translation>不可用：{reason}</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Test again</source>
        <translation>重新测试</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>此计算机</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>The engine cannot be started: {strerror}.</source>
        <translation>无法启动引擎：{strerror}。</translation>
    </message>
    <message>
        <source>not checked yet</source>
        <translation>尚未检查</translation>
    </message>
    <message>
        <source>All devices were examined.</source>
        <translation>已检查所有设备。</translation>
    </message>
    <message>
        <source>The examination was interrupted: its process has ended. Test again.</source>
        <translation>检查已中断：其进程已结束。请重新测试。</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n 个核</numerusform>
        </translation>
    </message>
    <message>
        <source>capability {version}</source>
        <translation>计算能力 {version}</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>驱动程序 {version}</translation>
    </message>
    <message>
        <source>{percent} % busy</source>
        <translation>占用 {percent} %</translation>
    </message>
    <message>
        <source>cannot be used: {reason}</source>
        <translation>无法使用：{reason}</translation>
    </message>
    <message>
        <source>Measuring {work} of {device}…</source>
        <translation>正在测量 {device} 的 {work}…</translation>
    </message>
    <message>
        <source>Devices and processes on which the run executes</source>
        <translation>执行运行的设备和进程</translation>
    </message>
    <message>
        <source>Dice</source>
        <translation>Dice</translation>
    </message>
    <message>
        <source>Dice cross entropy</source>
        <translation>Dice 交叉熵</translation>
    </message>
    <message>
        <source>Digits example</source>
        <translation>手写数字示例</translation>
    </message>
    <message>
        <source>Digits in ten numbers</source>
        <translation>用十个数表示数字</translation>
    </message>
    <message>
        <source>Dilated causal convolutions forecast a time series.</source>
        <translation>用膨胀因果卷积预测时间序列。</translation>
    </message>
    <message>
        <source>Dilation</source>
        <translation>膨胀</translation>
    </message>
    <message>
        <source>Dimension</source>
        <translation>维度</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>Distance between the elements of the window</source>
        <translation>窗内元素之间的距离</translation>
    </message>
    <message>
        <source>Distance from zero up to which values become zero</source>
        <translation>距零多远以内的值变为零</translation>
    </message>
    <message>
        <source>Distance measure</source>
        <translation>距离度量</translation>
    </message>
    <message>
        <source>Distance of the positions taken</source>
        <translation>所取位置的间距</translation>
    </message>
    <message>
        <source>Distance of two neighbouring values</source>
        <translation>两个相邻值之间的距离</translation>
    </message>
    <message>
        <source>Distance that each value moves towards zero</source>
        <translation>每个值向零移动的距离</translation>
    </message>
    <message>
        <source>Distance that the window moves along each axis</source>
        <translation>窗沿每个轴移动的距离</translation>
    </message>
    <message>
        <source>Distillation</source>
        <translation>蒸馏</translation>
    </message>
    <message>
        <source>Divide the work equally among the workers, and store the stages</source>
        <translation>在各工作单元之间平均分配计算量，并存储各阶段</translation>
    </message>
    <message>
        <source>Divides each number by the size of its neighbours in other channels at the same place. (Local response, LRN)</source>
        <translation>将每个数除以同一位置上其他通道中相邻数的大小。（局部响应归一化，LRN）</translation>
    </message>
    <message>
        <source>Divides the first input by the second, place by place. Sizes are equal, or 1 where one number counts for all.</source>
        <translation>按元素将第一个输入除以第二个输入。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Divides the logits of both networks before their probabilities are compared</source>
        <translation>比较概率之前，两个网络的 logits 都除以此值</translation>
    </message>
    <message>
        <source>Division of each batch among the workers</source>
        <translation>每个批量在工作单元之间的划分</translation>
    </message>
    <message>
        <source>Division of the work among several workers</source>
        <translation>多个工作单元之间的分工</translation>
    </message>
    <message>
        <source>Doctor…</source>
        <translation>诊断…</translation>
    </message>
    <message>
        <source>Domain</source>
        <translation>域</translation>
    </message>
    <message>
        <source>Domain of the operator, such as ai.onnx.ml</source>
        <translation>运算符的域，例如 ai.onnx.ml</translation>
    </message>
    <message>
        <source>Dormand-Prince: fifth order, six evaluations per step, those of MATLAB&apos;s ode45</source>
        <translation>Dormand-Prince：五阶，每步六次计算，与 MATLAB 的 ode45 相同</translation>
    </message>
    <message>
        <source>Dormand–Prince 5</source>
        <translation>Dormand–Prince 5</translation>
    </message>
    <message>
        <source>Down to the position before</source>
        <translation>向下取到前一个位置</translation>
    </message>
    <message>
        <source>Draw a coloured frame around the selection; it moves with its contents</source>
        <translation>在所选内容周围绘制彩色框；它随其内容一起移动</translation>
    </message>
    <message>
        <source>Draw a line around layers: the next drag, or Alt and a drag</source>
        <translation>围绕层画一条线：下一次拖动即可，或按住 Alt 拖动</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>丢弃率</translation>
    </message>
    <message>
        <source>Drops numbers at random while training so that mean and variance stay: for networks of SELUs.</source>
        <translation>训练时随机丢弃数值，并保持均值和方差：用于 SELU 网络。</translation>
    </message>
    <message>
        <source>Drops when validation stops improving</source>
        <translation>验证不再改进时下降</translation>
    </message>
    <message>
        <source>Drops whole channels at random while training so that mean and variance stay: for networks of SELUs.</source>
        <translation>训练时随机丢弃整个通道，并保持均值和方差：用于 SELU 网络。</translation>
    </message>
    <message>
        <source>Drum sounds</source>
        <translation>鼓声</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>EMA decay</source>
        <translation>EMA 衰减</translation>
    </message>
    <message>
        <source>EMA warm-up</source>
        <translation>EMA 预热</translation>
    </message>
    <message>
        <source>Each</source>
        <translation>逐个</translation>
    </message>
    <message>
        <source>Each block, and each of its copies, is a segment</source>
        <translation>每个模块及其每个副本为一段</translation>
    </message>
    <message>
        <source>Each column is a step: T = W, with channels × height values</source>
        <translation>每列为一个时间步：T = W，值为通道 × 高度</translation>
    </message>
    <message>
        <source>Each column of texts is an input of its own, of one index for an embedding</source>
        <translation>每个文本列各为一个输入，为一个供嵌入使用的索引</translation>
    </message>
    <message>
        <source>Each folder with images is a class, named by its path, such as dog/old</source>
        <translation>每个含图像的文件夹为一个类别，按其路径命名，例如 dog/old</translation>
    </message>
    <message>
        <source>Each line that is not empty, up to a block&apos;s length</source>
        <translation>每个非空行，最多到块的长度</translation>
    </message>
    <message>
        <source>Each pixel is a step: T = H × W, row by row, with the channels as values</source>
        <translation>每个像素为一个时间步：T = H × W，逐行，值为通道</translation>
    </message>
    <message>
        <source>Each position repeatedly: 1 1 2 2</source>
        <translation>每个位置重复：1 1 2 2</translation>
    </message>
    <message>
        <source>Each row is a step: T = H, with channels × width values</source>
        <translation>每行为一个时间步：T = H，值为通道 × 宽度</translation>
    </message>
    <message>
        <source>Each worker computes a part of each batch</source>
        <translation>每个工作单元计算每个批量的一部分</translation>
    </message>
    <message>
        <source>Each worker holds a shard of the weights</source>
        <translation>每个工作单元持有权重的一个分片</translation>
    </message>
    <message>
        <source>Each worker holds a stage of the network</source>
        <translation>每个工作单元持有网络的一个阶段</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>EfficientNet-B0</source>
        <translation>EfficientNet-B0</translation>
    </message>
    <message>
        <source>Element</source>
        <translation>元素</translation>
    </message>
    <message>
        <source>Elements of the image that become steps</source>
        <translation>图像中成为时间步的元素</translation>
    </message>
    <message>
        <source>Embedding</source>
        <translation>嵌入</translation>
    </message>
    <message>
        <source>Encoder layers</source>
        <translation>编码器层数</translation>
    </message>
    <message>
        <source>Encoding</source>
        <translation>编码</translation>
    </message>
    <message>
        <source>Encoding of text files and CSV tables</source>
        <translation>文本文件和 CSV 表格的编码</translation>
    </message>
    <message>
        <source>Encrypt reports and requests with TLS</source>
        <translation>使用 TLS 加密报告和请求</translation>
    </message>
    <message>
        <source>Encrypted</source>
        <translation>已加密</translation>
    </message>
    <message>
        <source>End</source>
        <translation>结束</translation>
    </message>
    <message>
        <source>End of the sequence from which steps are counted</source>
        <translation>从序列的哪一端开始对时间步计数</translation>
    </message>
    <message>
        <source>Ends the experiment once a trial reaches it, such as validation.accuracy&gt;=0.98</source>
        <translation>一旦有试验达到此值就结束实验，例如 validation.accuracy&gt;=0.98</translation>
    </message>
    <message>
        <source>Enough decrease and a slope near zero</source>
        <translation>下降充分且斜率接近零</translation>
    </message>
    <message>
        <source>Enough decrease and a smaller slope</source>
        <translation>下降充分且斜率减小</translation>
    </message>
    <message>
        <source>Environment of the hosts with Netwright and torch</source>
        <translation>主机上装有 Netwright 和 torch 的环境</translation>
    </message>
    <message>
        <source>The schedule continues from the new rate. Both take effect at once, and a checkpoint is saved.</source>
        <translation>调度从新的学习率继续。两者立即生效，并会保存一个检查点。</translation>
    </message>
    <message>
        <source>Change the run</source>
        <translation>更改运行</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>更改</translation>
    </message>
    <message>
        <source>Learn &amp;rate</source>
        <translation>学习率(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Epochs</source>
        <translation>轮数(&amp;E)</translation>
    </message>
    <message>
        <source>The learn rate is a number above 0, at most 1000.</source>
        <translation>学习率是大于 0 且不超过 1000 的数。</translation>
    </message>
    <message>
        <source>Epochs are a whole number from 1 to 1,000,000.</source>
        <translation>轮数是 1 到 1,000,000 的整数。</translation>
    </message>
    <message>
        <source>Resume the run</source>
        <translation>继续运行</translation>
    </message>
    <message>
        <source>{epochs:,} of {planned:,} iterations are complete. New total number of iterations:</source>
        <translation>计划的 {planned:,} 次迭代已完成 {epochs:,} 次。新的总迭代次数：</translation>
    </message>
    <message>
        <source>{epochs:,} of {planned:,} epochs are complete. New total number of epochs:</source>
        <translation>计划的 {planned:,} 轮已完成 {epochs:,} 轮。新的总轮数：</translation>
    </message>
    <message>
        <source>Epochs between drops, after the warm-up</source>
        <translation>预热之后，两次下降之间的轮数</translation>
    </message>
    <message>
        <source>Epochs from the schedule&apos;s rate to the SWA rate</source>
        <translation>从调度的学习率过渡到 SWA 学习率的轮数</translation>
    </message>
    <message>
        <source>Epochs per cycle of rising and falling</source>
        <translation>每个升降循环的轮数</translation>
    </message>
    <message>
        <source>Epochs that every trial is trained before it can be stopped</source>
        <translation>每个试验在可被停止之前训练的轮数</translation>
    </message>
    <message>
        <source>Epochs until the rate restarts from the top</source>
        <translation>学习率从峰值重启之前的轮数</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Epsilon</translation>
    </message>
    <message>
        <source>Equal</source>
        <translation>相等</translation>
    </message>
    <message>
        <source>Equal distances from left to right</source>
        <translation>从左到右距离相等</translation>
    </message>
    <message>
        <source>Equal distances from top to bottom</source>
        <translation>从上到下距离相等</translation>
    </message>
    <message>
        <source>Equal number of samples per worker</source>
        <translation>每个工作单元的样本数相等</translation>
    </message>
    <message>
        <source>Equal weight per class</source>
        <translation>每个类别权重相等</translation>
    </message>
    <message>
        <source>Equal weight per sample</source>
        <translation>每个样本权重相等</translation>
    </message>
    <message>
        <source>Equation</source>
        <translation>方程</translation>
    </message>
    <message>
        <source>Erasing</source>
        <translation>擦除</translation>
    </message>
    <message>
        <source>Error at which the loss changes from quadratic to linear</source>
        <translation>损失由二次变为线性时的误差</translation>
    </message>
    <message>
        <source>Error function</source>
        <translation>误差函数</translation>
    </message>
    <message>
        <source>Euclidean</source>
        <translation>欧几里得</translation>
    </message>
    <message>
        <source>Euler</source>
        <translation>欧拉</translation>
    </message>
    <message>
        <source>Euler: first order, one evaluation per step (MATLAB&apos;s ode1)</source>
        <translation>Euler：一阶，每步一次计算（MATLAB 的 ode1）</translation>
    </message>
    <message>
        <source>Evaluate…</source>
        <translation>评估…</translation>
    </message>
    <message>
        <source>Evenly spread points of a Sobol sequence</source>
        <translation>Sobol 序列中均匀分布的点</translation>
    </message>
    <message>
        <source>Every axis grows by the same factor</source>
        <translation>每个轴按相同的因子放大</translation>
    </message>
    <message>
        <source>Every axis shrinks by the same factor</source>
        <translation>每个轴按相同的因子缩小</translation>
    </message>
    <message>
        <source>Every combination</source>
        <translation>每种组合</translation>
    </message>
    <message>
        <source>Every entry of the menus, by its name or by what it does</source>
        <translation>按名称或功能查找菜单中的每一项</translation>
    </message>
    <message>
        <source>Every epoch</source>
        <translation>每轮</translation>
    </message>
    <message>
        <source>Every run of the project: curves, scores, predictions, options; find, compare, delete</source>
        <translation>项目的所有运行：曲线、分数、预测、选项；可查找、比较、删除</translation>
    </message>
    <message>
        <source>Every step attends to all steps</source>
        <translation>每个时间步关注所有时间步</translation>
    </message>
    <message>
        <source>Every trial is trained to its end</source>
        <translation>每个试验都训练到结束</translation>
    </message>
    <message>
        <source>Exact, with the error function</source>
        <translation>精确，使用误差函数</translation>
    </message>
    <message>
        <source>Exchanges channels for places: each place becomes a block of places. (Pixel shuffle, sub-pixel convolution)</source>
        <translation>用通道换取位置：每个位置变为一块位置。（像素混洗、亚像素卷积）</translation>
    </message>
    <message>
        <source>Exchanges places for channels: each block of places becomes one place. (Pixel unshuffle)</source>
        <translation>用位置换取通道：每块位置变为一个位置。（像素逆混洗）</translation>
    </message>
    <message>
        <source>Exchanges rows and columns of the first input</source>
        <translation>交换第一个输入的行和列</translation>
    </message>
    <message>
        <source>Exchanges rows and columns of the second input</source>
        <translation>交换第二个输入的行和列</translation>
    </message>
    <message>
        <source>Exchanges the axes of a sample. The layout stays: with 1, 3, 2 an image is mirrored at its diagonal.</source>
        <translation>交换样本的各轴。布局保持不变：取 1, 3, 2 时，图像沿对角线镜像。</translation>
    </message>
    <message>
        <source>Change rate or epochs…</source>
        <translation>更改学习率或轮数…</translation>
    </message>
    <message>
        <source>A run is training. Changes here are for the next run. Its learn rate and epochs can be changed now.</source>
        <translation>有运行正在训练。此处的更改用于下一个运行。它的学习率和轮数现在可以更改。</translation>
    </message>
    <message>
        <source>The run has ended. Changes here are for the next run.</source>
        <translation>运行已结束。此处的更改用于下一个运行。</translation>
    </message>
    <message>
        <source>Search options…</source>
        <translation>搜索选项…</translation>
    </message>
    <message>
        <source>Search options</source>
        <translation>搜索选项</translation>
    </message>
    <message>
        <source>Execution environment</source>
        <translation>执行环境</translation>
    </message>
    <message>
        <source>{value} was set for another solver.</source>
        <translation>{value} 是为另一个求解器设置的。</translation>
    </message>
    <message>
        <source>Use {value}, the default of {solver}</source>
        <translation>使用 {value}，即 {solver} 的默认值</translation>
    </message>
    <message>
        <source>No option matches “{text}”.</source>
        <translation>没有选项匹配“{text}”。</translation>
    </message>
    <message>
        <source>All options have their defaults.</source>
        <translation>所有选项均为默认值。</translation>
    </message>
    <message>
        <source>Exponent</source>
        <translation>指数</translation>
    </message>
    <message>
        <source>Exponent of the divisor</source>
        <translation>除数的指数</translation>
    </message>
    <message>
        <source>Exponent of the norm</source>
        <translation>范数的指数</translation>
    </message>
    <message>
        <source>Exponent of the remaining fraction of the run</source>
        <translation>运行剩余比例的指数</translation>
    </message>
    <message>
        <source>Exponent that lowers the weight of sure samples</source>
        <translation>降低确定样本权重的指数</translation>
    </message>
    <message>
        <source>Exponential</source>
        <translation>指数</translation>
    </message>
    <message>
        <source>Exponential moving average</source>
        <translation>指数移动平均</translation>
    </message>
    <message>
        <source>Exponential moving average, updated at each step</source>
        <translation>指数移动平均，每步更新</translation>
    </message>
    <message>
        <source>Export table of layers…</source>
        <translation>导出层表…</translation>
    </message>
    <message>
        <source>Expression</source>
        <translation>表达式</translation>
    </message>
    <message>
        <source>Expression of the tensors x1, x2 and so on</source>
        <translation>关于张量 x1、x2 等的表达式</translation>
    </message>
    <message>
        <source>F-score</source>
        <translation>F 分数</translation>
    </message>
    <message>
        <source>F-score beta</source>
        <translation>F 分数的 beta</translation>
    </message>
    <message>
        <source>F-score on the validation split</source>
        <translation>验证部分的 F 分数</translation>
    </message>
    <message>
        <source>FFT length</source>
        <translation>FFT 长度</translation>
    </message>
    <message>
        <source>FP16</source>
        <translation>FP16</translation>
    </message>
    <message>
        <source>FP32</source>
        <translation>FP32</translation>
    </message>
    <message>
        <source>FP64</source>
        <translation>FP64</translation>
    </message>
    <message>
        <source>Factor from the gradient to the first direction</source>
        <translation>从梯度到首个方向的因子</translation>
    </message>
    <message>
        <source>Factor of each value</source>
        <translation>每个值的因子</translation>
    </message>
    <message>
        <source>Factor of the mean square of the window</source>
        <translation>窗内均方值的因子</translation>
    </message>
    <message>
        <source>Factor of the part below zero</source>
        <translation>零以下部分的因子</translation>
    </message>
    <message>
        <source>Factor of the scores</source>
        <translation>分数的因子</translation>
    </message>
    <message>
        <source>Factor of the size</source>
        <translation>大小的因子</translation>
    </message>
    <message>
        <source>Factor on the damping after a failed step</source>
        <translation>步失败后阻尼的因子</translation>
    </message>
    <message>
        <source>Factor on the damping after a step that lowered the loss</source>
        <translation>步使损失降低后阻尼的因子</translation>
    </message>
    <message>
        <source>Factor on the learn rate after a rollback</source>
        <translation>回退后学习率的因子</translation>
    </message>
    <message>
        <source>Factor on the learn rate, relative to one worker</source>
        <translation>相对于单个工作单元的学习率因子</translation>
    </message>
    <message>
        <source>Factor on the length of each next period</source>
        <translation>每个后续周期长度的因子</translation>
    </message>
    <message>
        <source>Factor on the rate at each drop, 0 to 1</source>
        <translation>每次下降时学习率的因子，0 到 1</translation>
    </message>
    <message>
        <source>Falls along half a cosine over the run</source>
        <translation>在运行中沿半个余弦下降</translation>
    </message>
    <message>
        <source>Falls to zero at the end of the run</source>
        <translation>在运行结束时降到零</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>快速</translation>
    </message>
    <message>
        <source>Fault reports</source>
        <translation>故障报告</translation>
    </message>
    <message>
        <source>Features</source>
        <translation>特征</translation>
    </message>
    <message>
        <source>Features, as arrays of fractions are</source>
        <translation>特征，与小数数组相同</translation>
    </message>
    <message>
        <source>Feedforward</source>
        <translation>前馈</translation>
    </message>
    <message>
        <source>Fewest workers</source>
        <translation>最少工作单元数</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>File column</source>
        <translation>文件列</translation>
    </message>
    <message>
        <source>File or folder of the test data, of the same kind as the training data</source>
        <translation>测试数据的文件或文件夹，与训练数据种类相同</translation>
    </message>
    <message>
        <source>File or folder of the validation data, of the same kind as the training data</source>
        <translation>验证数据的文件或文件夹，与训练数据种类相同</translation>
    </message>
    <message>
        <source>File or folder, relative to the project&apos;s folder</source>
        <translation>文件或文件夹，相对于工程文件夹</translation>
    </message>
    <message>
        <source>File with the constants of imported ONNX operators, in safetensors</source>
        <translation>包含导入的 ONNX 运算符常量的文件，safetensors 格式</translation>
    </message>
    <message>
        <source>File with the token of the Ray cluster</source>
        <translation>包含 Ray 集群令牌的文件</translation>
    </message>
    <message>
        <source>Files left out</source>
        <translation>排除的文件</translation>
    </message>
    <message>
        <source>Files that are cut off, or no images or sounds, are left out before the data is divided, with a warning</source>
        <translation>在划分数据之前排除被截断的文件或并非图像或声音的文件，并给出警告</translation>
    </message>
    <message>
        <source>Fill in</source>
        <translation>填补</translation>
    </message>
    <message>
        <source>Fill value</source>
        <translation>填充值</translation>
    </message>
    <message>
        <source>Train the network, or choose a run in Runs: its filters are shown here.</source>
        <translation>请训练网络，或在“运行”中选择一个运行：其滤波器将显示在此处。</translation>
    </message>
    <message>
        <source>Shown once the run has ended.</source>
        <translation>运行结束后显示。</translation>
    </message>
    <message>
        <source>Reading the filters…</source>
        <translation>正在读取滤波器…</translation>
    </message>
    <message numerus="yes">
        <source>Pictures of %n filter(s)</source>
        <translation>
            <numerusform>%n 个滤波器的图片</numerusform>
        </translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>滤波器</translation>
    </message>
    <message>
        <source>The pictures of the filters cannot be read. Select the layer again.</source>
        <translation>无法读取滤波器的图片。请重新选择该层。</translation>
    </message>
    <message numerus="yes">
        <source>%n filter(s)</source>
        <translation>
            <numerusform>%n 个滤波器</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first {most} of %n filter(s)</source>
        <translation>
            <numerusform>%n 个滤波器中的前 {most} 个</numerusform>
        </translation>
    </message>
    <message>
        <source>{filters}, each the mean over {channels:,} channels</source>
        <translation>{filters}，每个为 {channels:,} 个通道的均值</translation>
    </message>
    <message>
        <source>Filters per group</source>
        <translation>每组滤波器数</translation>
    </message>
    <message>
        <source>Find a layer type by its name, and add it</source>
        <translation>按名称查找层类型并添加</translation>
    </message>
    <message>
        <source>Find a layer…</source>
        <translation>查找层…</translation>
    </message>
    <message>
        <source>Find next</source>
        <translation>查找下一个</translation>
    </message>
    <message>
        <source>Find previous</source>
        <translation>查找上一个</translation>
    </message>
    <message>
        <source>Fire modules: little memory, few parameters.</source>
        <translation>Fire 模块：内存少，参数少。</translation>
    </message>
    <message>
        <source>First</source>
        <translation>第一个</translation>
    </message>
    <message>
        <source>First epoch whose final weights are averaged</source>
        <translation>其最终权重参与平均的第一轮</translation>
    </message>
    <message>
        <source>First position</source>
        <translation>第一个位置</translation>
    </message>
    <message>
        <source>Fitted</source>
        <translation>拟合</translation>
    </message>
    <message>
        <source>Five convolutions and three fully connected layers.</source>
        <translation>五个卷积层和三个全连接层。</translation>
    </message>
    <message>
        <source>Floor</source>
        <translation>下限</translation>
    </message>
    <message>
        <source>Focal</source>
        <translation>焦点</translation>
    </message>
    <message>
        <source>Focal gamma</source>
        <translation>焦点损失 gamma</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>折</translation>
    </message>
    <message>
        <source>Folder for runs and their data</source>
        <translation>存放运行及其数据的文件夹</translation>
    </message>
    <message>
        <source>Folder of a run whose answers are learned, too</source>
        <translation>同时学习其答案的运行所在的文件夹</translation>
    </message>
    <message>
        <source>Folder of images</source>
        <translation>图像文件夹</translation>
    </message>
    <message>
        <source>Folder of masks</source>
        <translation>掩码文件夹</translation>
    </message>
    <message>
        <source>Folder of targets</source>
        <translation>目标文件夹</translation>
    </message>
    <message>
        <source>Folders inside</source>
        <translation>内部文件夹</translation>
    </message>
    <message>
        <source>Folders train, val and test in the folder of the data</source>
        <translation>数据文件夹中的文件夹 train、val 和 test</translation>
    </message>
    <message>
        <source>Folders with another name on the hosts</source>
        <translation>在主机上名称不同的文件夹</translation>
    </message>
    <message>
        <source>Folds</source>
        <translation>折数</translation>
    </message>
    <message>
        <source>Follow or look at a run by its folder</source>
        <translation>通过文件夹跟随或查看运行</translation>
    </message>
    <message>
        <source>For image to image, such as denoising: a folder with one target image per image, of the same name</source>
        <translation>用于图像到图像（例如去噪）：每幅图像有一幅同名目标图像的文件夹</translation>
    </message>
    <message>
        <source>For segmentation: a folder with one mask per image, of the same name, whose values (grey or palette) are the classes of the pixels</source>
        <translation>用于分割：每幅图像有一个同名掩码的文件夹，掩码的值（灰度或调色板）为像素的类别</translation>
    </message>
    <message>
        <source>For targets by a table: a CSV file with a column of files, and columns of classes, labels or numbers</source>
        <translation>用于由表格给出的目标：包含文件列以及类别、标签或数值列的 CSV 文件</translation>
    </message>
    <message>
        <source>Forecasting: a CSV or Parquet file with one row per time step, of one series or of several</source>
        <translation>预测：每行一个时间步的 CSV 或 Parquet 文件，含一个或多个序列</translation>
    </message>
    <message>
        <source>Forecasts the next 24 hours of a time series.</source>
        <translation>预测时间序列的未来 24 小时。</translation>
    </message>
    <message>
        <source>Forecasts the next week at each of six stations.</source>
        <translation>预测六个站点各自的下一周。</translation>
    </message>
    <message>
        <source>Format of the gradients that workers exchange</source>
        <translation>工作单元之间交换的梯度的格式</translation>
    </message>
    <message>
        <source>Formulas of torch.optim and torch.nn</source>
        <translation>torch.optim 和 torch.nn 的公式</translation>
    </message>
    <message>
        <source>Formulas to use where PyTorch and MATLAB differ</source>
        <translation>PyTorch 与 MATLAB 不同时采用的公式</translation>
    </message>
    <message>
        <source>Fourier</source>
        <translation>傅里叶</translation>
    </message>
    <message>
        <source>Fraction of correctly classified samples</source>
        <translation>正确分类的样本比例</translation>
    </message>
    <message>
        <source>Fraction of each label spread over all classes, 0 to 1</source>
        <translation>将每个标签的多少比例分散到所有类别，0 到 1</translation>
    </message>
    <message>
        <source>Fraction of samples whose class is among the k likeliest</source>
        <translation>类别在最可能的 k 个之中的样本比例</translation>
    </message>
    <message>
        <source>Fraction of the average kept per step, 0 to 1</source>
        <translation>每步保留的平均值比例，0 到 1</translation>
    </message>
    <message>
        <source>Fraction of the cycle over which the rate rises</source>
        <translation>学习率上升阶段占循环的比例</translation>
    </message>
    <message>
        <source>Fraction of the predictions of a class that are right, averaged over classes</source>
        <translation>对一个类别的预测中正确的比例，对类别取平均</translation>
    </message>
    <message>
        <source>Fraction of the previous update kept, 0 to 1</source>
        <translation>保留前一次更新的比例，0 到 1</translation>
    </message>
    <message>
        <source>Fraction of the rate kept per epoch, 0 to 1</source>
        <translation>每轮保留的学习率比例，0 到 1</translation>
    </message>
    <message>
        <source>Fraction of the run over which the rate rises</source>
        <translation>学习率上升阶段占运行的比例</translation>
    </message>
    <message>
        <source>Fraction of the samples of a class that are found, averaged over classes</source>
        <translation>一个类别的样本中被找到的比例，对类别取平均</translation>
    </message>
    <message>
        <source>Fraction of the samples used for the test after training, 0 to 0.9</source>
        <translation>训练后用于测试的样本比例，0 到 0.9</translation>
    </message>
    <message>
        <source>Fraction of the samples used for validation, 0 to 0.9</source>
        <translation>用于验证的样本比例，0 到 0.9</translation>
    </message>
    <message>
        <source>The network as ONNX, PyTorch or source code</source>
        <translation>将网络导出为 ONNX、PyTorch 或源代码</translation>
    </message>
    <message>
        <source>Train again</source>
        <translation>再次训练</translation>
    </message>
    <message>
        <source>A new run with the options of the project as they are now</source>
        <translation>用项目当前的选项开始新的运行</translation>
    </message>
    <message>
        <source>Try a sample</source>
        <translation>试用样本</translation>
    </message>
    <message>
        <source>Draw, type or drop samples, and see the answers</source>
        <translation>绘制、输入或拖放样本，并查看网络的回答</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Curves, results and options of two runs side by side</source>
        <translation>并排显示两个运行的曲线、结果和选项</translation>
    </message>
    <message>
        <source>Report…</source>
        <translation>报告…</translation>
    </message>
    <message>
        <source>Network, options, curves and results as one HTML file</source>
        <translation>将网络、选项、曲线和结果保存为一个 HTML 文件</translation>
    </message>
    <message>
        <source>Next</source>
        <comment>steps</comment>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Resume for more epochs</source>
        <translation>继续训练更多轮</translation>
    </message>
    <message>
        <source>In the same run</source>
        <translation>在同一个运行中</translation>
    </message>
    <message>
        <source>From the last checkpoint</source>
        <translation>从最后一个检查点</translation>
    </message>
    <message>
        <source>Weights of epoch {epoch:,} are kept</source>
        <translation>保留了第 {epoch:,} 轮的权重</translation>
    </message>
    <message>
        <source>Compare with {title}</source>
        <translation>与 {title} 比较</translation>
    </message>
    <message>
        <source>Free memory, save, validate, change the learn rate or the epochs, watch gradients or layers</source>
        <translation>释放内存、保存、验证、更改学习率或轮数、监视梯度或层</translation>
    </message>
    <message>
        <source>Free memory</source>
        <translation>释放内存</translation>
    </message>
    <message>
        <source>Pause and free memory</source>
        <translation>暂停并释放内存</translation>
    </message>
    <message>
        <source>Free memory needed to start a further trial</source>
        <translation>开始下一个试验所需的空闲内存</translation>
    </message>
    <message>
        <source>Freeze</source>
        <translation>冻结</translation>
    </message>
    <message>
        <source>Inputs are normalised as those that the weights were trained with.</source>
        <translation>输入按训练这些权重时的方式归一化。</translation>
    </message>
    <message>
        <source>Transfer learning</source>
        <translation>迁移学习</translation>
    </message>
    <message>
        <source>Weights to start from</source>
        <translation>起始权重</translation>
    </message>
    <message>
        <source>None: random numbers</source>
        <translation>无：随机数</translation>
    </message>
    <message>
        <source>Run: {run}</source>
        <translation>运行：{run}</translation>
    </message>
    <message>
        <source>A file…</source>
        <translation>文件…</translation>
    </message>
    <message>
        <source>Another run…</source>
        <translation>其他运行…</translation>
    </message>
    <message>
        <source>Published weights…</source>
        <translation>已发布的权重…</translation>
    </message>
    <message>
        <source>Only what is not loaded</source>
        <translation>仅显示未加载的</translation>
    </message>
    <message>
        <source>Clear names set by hand</source>
        <translation>清除手动设置的名称</translation>
    </message>
    <message>
        <source>Outputs of the new head</source>
        <translation>新头部的输出数</translation>
    </message>
    <message>
        <source>Replace for the data</source>
        <translation>按数据替换</translation>
    </message>
    <message>
        <source>Replace, with outputs:</source>
        <translation>替换，输出数：</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>头部</translation>
    </message>
    <message>
        <source>Freeze up to</source>
        <translation>冻结到</translation>
    </message>
    <message>
        <source>None: all layers learn</source>
        <translation>无：所有层都学习</translation>
    </message>
    <message>
        <source>Selected: {layer}</source>
        <translation>所选：{layer}</translation>
    </message>
    <message>
        <source>Factor of the learn rate</source>
        <translation>学习率因子</translation>
    </message>
    <message>
        <source>Lower rate up to</source>
        <translation>降低学习率到</translation>
    </message>
    <message>
        <source>times the learn rate, up to</source>
        <translation>倍学习率，直到</translation>
    </message>
    <message>
        <source>Learn rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Folder of a run</source>
        <translation>运行的文件夹</translation>
    </message>
    <message>
        <source>The layers behind it learn at the full rate.</source>
        <translation>其后的层以完整的学习率学习。</translation>
    </message>
    <message>
        <source>Comparing the names and shapes…</source>
        <translation>正在比较名称和形状…</translation>
    </message>
    <message>
        <source>The run starts from random numbers.</source>
        <translation>运行从随机数开始。</translation>
    </message>
    <message>
        <source>1 layer keeps its weights.</source>
        <translation>1 个层保持其权重不变。</translation>
    </message>
    <message numerus="yes">
        <source>%n layers keep their weights.</source>
        <translation>
            <numerusform>%n 个层保持其权重不变。</numerusform>
        </translation>
    </message>
    <message>
        <source>1 layer keeps its weights, {share} of the parameters.</source>
        <translation>1 个层保持其权重不变，占参数的 {share}。</translation>
    </message>
    <message numerus="yes">
        <source>%n layers keep their weights, {share} of the parameters.</source>
        <translation>
            <numerusform>%n 个层保持其权重不变，占参数的 {share}。</numerusform>
        </translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>来自文件</translation>
    </message>
    <message>
        <source>From the inputs at the left to the outputs at the right</source>
        <translation>从左侧的输入到右侧的输出</translation>
    </message>
    <message>
        <source>From the inputs at the top to the outputs at the bottom</source>
        <translation>从顶部的输入到底部的输出</translation>
    </message>
    <message>
        <source>Front, top, left: first position of the part, from 0</source>
        <translation>前、上、左：该部分的起始位置，从 0 起</translation>
    </message>
    <message>
        <source>Fully connected</source>
        <translation>全连接</translation>
    </message>
    <message>
        <source>Fully connected layers for a table of numbers.</source>
        <translation>用于数值表格的全连接层。</translation>
    </message>
    <message>
        <source>Fully sharded</source>
        <translation>完全分片</translation>
    </message>
    <message>
        <source>Function</source>
        <translation>函数</translation>
    </message>
    <message>
        <source>Function of each value</source>
        <translation>对每个值应用的函数</translation>
    </message>
    <message>
        <source>Function to minimise</source>
        <translation>要最小化的函数</translation>
    </message>
    <message>
        <source>Fused optimizers</source>
        <translation>融合优化器</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>GELU</source>
        <translation>GELU 层</translation>
    </message>
    <message>
        <source>GPT, small</source>
        <translation>GPT，小型</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>个 GPU</translation>
    </message>
    <message>
        <source>GPUs in use</source>
        <translation>使用的 GPU</translation>
    </message>
    <message>
        <source>GPUs of each trial</source>
        <translation>每次试验的 GPU 数</translation>
    </message>
    <message>
        <source>GPUs per trial</source>
        <translation>每次试验的 GPU 数</translation>
    </message>
    <message>
        <source>GPUs per worker</source>
        <translation>每个工作单元的 GPU 数</translation>
    </message>
    <message>
        <source>GPUs that the trials may use together</source>
        <translation>各试验可共同使用的 GPU</translation>
    </message>
    <message>
        <source>Gamma of the Morse wavelet</source>
        <translation>Morse 小波的 gamma</translation>
    </message>
    <message>
        <source>Gap</source>
        <translation>间隔</translation>
    </message>
    <message>
        <source>Gaps in time</source>
        <translation>时间间断</translation>
    </message>
    <message>
        <source>Gate activation</source>
        <translation>门激活函数</translation>
    </message>
    <message>
        <source>Gated recurrent unit: like an LSTM with two gates and no separate memory.</source>
        <translation>门控循环单元：类似 LSTM，但只有两个门，且没有单独的记忆。</translation>
    </message>
    <message>
        <source>Gates one half of the channels with the other: a · sigmoid(b). The output has half the channels.</source>
        <translation>用一半通道对另一半进行门控：a · sigmoid(b)。输出的通道数减半。</translation>
    </message>
    <message>
        <source>Gathers, for each query, values whose keys resemble it. Nothing is learned.</source>
        <translation>为每个查询汇集键与其相似的值。不学习任何内容。</translation>
    </message>
    <message>
        <source>Generalised Morse wavelet, with a symmetry and a time-bandwidth product</source>
        <translation>广义 Morse 小波，含对称性和时间带宽积</translation>
    </message>
    <message>
        <source>Generalized dice</source>
        <translation>广义 Dice</translation>
    </message>
    <message>
        <source>Genetic, NSGA-II</source>
        <translation>遗传算法，NSGA-II</translation>
    </message>
    <message>
        <source>Genetic, for several objectives</source>
        <translation>遗传算法，用于多个目标</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Gives</source>
        <translation>给出</translation>
    </message>
    <message>
        <source>Gives the numbers of a sample other axes, without changing their order in memory.</source>
        <translation>赋予样本的数值其他的轴，而不改变其在内存中的顺序。</translation>
    </message>
    <message>
        <source>Glorot</source>
        <translation>Glorot</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>回退</translation>
    </message>
    <message>
        <source>Go back rate factor</source>
        <translation>回退学习率因子</translation>
    </message>
    <message>
        <source>Go on where the run is, from its last checkpoint</source>
        <translation>从此运行的最后一个检查点继续</translation>
    </message>
    <message>
        <source>GoogLeNet</source>
        <translation>GoogLeNet</translation>
    </message>
    <message>
        <source>Grad-CAM</source>
        <translation>Grad-CAM</translation>
    </message>
    <message>
        <source>Gradient accumulation</source>
        <translation>梯度累积</translation>
    </message>
    <message>
        <source>Gradient below which the run ends</source>
        <translation>低于此梯度时运行结束</translation>
    </message>
    <message>
        <source>Gradient checkpointing</source>
        <translation>梯度检查点</translation>
    </message>
    <message>
        <source>Gradient compression</source>
        <translation>梯度压缩</translation>
    </message>
    <message>
        <source>Gradient decay factor</source>
        <translation>梯度衰减因子</translation>
    </message>
    <message>
        <source>Gradient threshold</source>
        <translation>梯度阈值</translation>
    </message>
    <message>
        <source>Gradient threshold method</source>
        <translation>梯度阈值方法</translation>
    </message>
    <message>
        <source>Gradient tolerance</source>
        <translation>梯度容差</translation>
    </message>
    <message>
        <source>Gradient, output and dead units of each layer from now on, as marks on the canvas</source>
        <translation>从现在起，在画布上用标记显示每层的梯度、输出和失活单元</translation>
    </message>
    <message>
        <source>Gradients of plain chains of layers without autograd</source>
        <translation>不用 autograd 计算简单链式各层的梯度</translation>
    </message>
    <message>
        <source>Grey or colour</source>
        <translation>灰度或彩色</translation>
    </message>
    <message>
        <source>Group column</source>
        <translation>分组列</translation>
    </message>
    <message>
        <source>Group in file names</source>
        <translation>文件名中的组</translation>
    </message>
    <message>
        <source>Groups</source>
        <translation>组数</translation>
    </message>
    <message>
        <source>Haar</source>
        <translation>Haar</translation>
    </message>
    <message>
        <source>Half mean squared error</source>
        <translation>均方误差的一半</translation>
    </message>
    <message>
        <source>Half pixel</source>
        <translation>半像素</translation>
    </message>
    <message>
        <source>Half precision: half the traffic, rounded</source>
        <translation>半精度：流量减半，经过舍入</translation>
    </message>
    <message>
        <source>Half the size</source>
        <translation>一半大小</translation>
    </message>
    <message>
        <source>Half the square near zero, a line beyond</source>
        <translation>零附近为平方的一半，其外为直线</translation>
    </message>
    <message>
        <source>Halves</source>
        <translation>两半</translation>
    </message>
    <message>
        <source>Halves the step until the loss has fallen enough</source>
        <translation>将步长减半，直到损失充分下降</translation>
    </message>
    <message>
        <source>Hamming</source>
        <translation>Hamming</translation>
    </message>
    <message>
        <source>Handwritten digits</source>
        <translation>手写数字</translation>
    </message>
    <message>
        <source>Hann</source>
        <translation>Hann</translation>
    </message>
    <message>
        <source>Hard sigmoid</source>
        <translation>硬 sigmoid 层</translation>
    </message>
    <message>
        <source>Harmonic mean of precision and recall of a class, averaged over classes</source>
        <translation>一个类别的精确率和召回率的调和平均，对类别取平均</translation>
    </message>
    <message>
        <source>He</source>
        <translation>He</translation>
    </message>
    <message>
        <source>Head channels</source>
        <translation>每头通道数</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>头数</translation>
    </message>
    <message>
        <source>Heating demand</source>
        <translation>供热需求</translation>
    </message>
    <message>
        <source>Height</source>
        <translation>高度</translation>
    </message>
    <message>
        <source>Height and width of a patch</source>
        <translation>图像块的高度和宽度</translation>
    </message>
    <message>
        <source>Height × width</source>
        <translation>高度 × 宽度</translation>
    </message>
    <message>
        <source>Height × width of the block of pixels that becomes channels</source>
        <translation>变为通道的像素块的高度 × 宽度</translation>
    </message>
    <message>
        <source>Height × width of the block of pixels that the channels become</source>
        <translation>通道所变成的像素块的高度 × 宽度</translation>
    </message>
    <message>
        <source>Height × width of the image</source>
        <translation>图像的高度 × 宽度</translation>
    </message>
    <message>
        <source>Height × width of the part</source>
        <translation>该部分的高度 × 宽度</translation>
    </message>
    <message>
        <source>Height: one below the other</source>
        <translation>高度：上下排列</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>本机</translation>
    </message>
    <message>
        <source>Hidden from layers, losses and metrics</source>
        <translation>对层、损失和度量隐藏</translation>
    </message>
    <message>
        <source>Hidden units</source>
        <translation>隐含单元</translation>
    </message>
    <message>
        <source>Higher is better</source>
        <translation>越高越好</translation>
    </message>
    <message>
        <source>Highest rate as a multiple of the initial one</source>
        <translation>最高学习率为初始学习率的多少倍</translation>
    </message>
    <message>
        <source>Highest rate divided by the first</source>
        <translation>最高学习率除以起始学习率</translation>
    </message>
    <message>
        <source>History size</source>
        <translation>历史大小</translation>
    </message>
    <message>
        <source>Hooks file</source>
        <translation>钩子文件</translation>
    </message>
    <message>
        <source>Hop</source>
        <translation>跳步</translation>
    </message>
    <message>
        <source>Horizon</source>
        <translation>预测范围</translation>
    </message>
    <message>
        <source>Hosts that ssh reaches without a password</source>
        <translation>ssh 无需密码即可连接的主机</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>小时</translation>
    </message>
    <message>
        <source>How</source>
        <translation>方式</translation>
    </message>
    <message>
        <source>How columns of texts become inputs</source>
        <translation>文本列如何变为输入</translation>
    </message>
    <message>
        <source>How images in folders inside the class folders are taken</source>
        <translation>如何取用类别文件夹内子文件夹中的图像</translation>
    </message>
    <message>
        <source>How missing values are handled</source>
        <translation>如何处理缺失值</translation>
    </message>
    <message>
        <source>How padding counts in the mean</source>
        <translation>填充在均值中如何计算</translation>
    </message>
    <message>
        <source>How rows with missing values are handled</source>
        <translation>如何处理有缺失值的行</translation>
    </message>
    <message>
        <source>How samples are divided into training, validation and test</source>
        <translation>如何将样本划分为训练、验证和测试</translation>
    </message>
    <message>
        <source>How streamed samples are decoded: one reader per core, at most 8</source>
        <translation>如何解码流式样本：每个核一个读取进程，最多 8 个</translation>
    </message>
    <message>
        <source>How the output size is chosen</source>
        <translation>如何选择输出大小</translation>
    </message>
    <message>
        <source>How the size of the part is chosen</source>
        <translation>如何选择该部分的大小</translation>
    </message>
    <message>
        <source>How the values of a trial are chosen</source>
        <translation>如何选择试验的值</translation>
    </message>
    <message>
        <source>Huber</source>
        <translation>Huber</translation>
    </message>
    <message>
        <source>Huber delta</source>
        <translation>Huber delta</translation>
    </message>
    <message>
        <source>Hue</source>
        <translation>色调</translation>
    </message>
    <message>
        <source>Hyperband</source>
        <translation>Hyperband</translation>
    </message>
    <message>
        <source>Hyperbolic cosine</source>
        <translation>双曲余弦</translation>
    </message>
    <message>
        <source>Hyperbolic sine</source>
        <translation>双曲正弦</translation>
    </message>
    <message>
        <source>Hyperbolic tangent, from -1 to 1</source>
        <translation>双曲正切，从 -1 到 1</translation>
    </message>
    <message>
        <source>Hz</source>
        <translation>Hz</translation>
    </message>
    <message>
        <source>INT8, dynamic</source>
        <translation>INT8，动态</translation>
    </message>
    <message>
        <source>INT8, static</source>
        <translation>INT8，静态</translation>
    </message>
    <message>
        <source>Id or name of a layer: it and all layers that lead to it keep their weights</source>
        <translation>层的 ID 或名称：该层及通向它的所有层保持权重不变</translation>
    </message>
    <message>
        <source>Ignore</source>
        <translation>忽略</translation>
    </message>
    <message>
        <source>Ignored value</source>
        <translation>忽略的值</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图像</translation>
    </message>
    <message>
        <source>Image files that are no samples, such as damaged ones, separated by semicolons: cat/3.png, with masks 3.png</source>
        <translation>不作为样本的图像文件（例如已损坏的），以分号分隔：cat/3.png，有掩码时为 3.png</translation>
    </message>
    <message>
        <source>Image on the hosts, such as /shared/netwright.sif</source>
        <translation>主机上的映像，例如 /shared/netwright.sif</translation>
    </message>
    <message>
        <source>Image size</source>
        <translation>图像大小</translation>
    </message>
    <message>
        <source>Images in folders inside the class folders are left out</source>
        <translation>排除类别文件夹内子文件夹中的图像</translation>
    </message>
    <message>
        <source>Import report…</source>
        <translation>导入报告…</translation>
    </message>
    <message>
        <source>Impute numbers</source>
        <translation>数值填补</translation>
    </message>
    <message>
        <source>Impute texts</source>
        <translation>文本填补</translation>
    </message>
    <message>
        <source>In a dense block each layer receives all earlier outputs.</source>
        <translation>在密集块中，每层接收之前所有层的输出。</translation>
    </message>
    <message>
        <source>In a file of their own beside it</source>
        <translation>在其旁边的单独文件中</translation>
    </message>
    <message>
        <source>In memory</source>
        <translation>在内存中</translation>
    </message>
    <message>
        <source>In memory where all workers&apos; copies take at most half of what is free, else streamed</source>
        <translation>所有工作单元的副本最多占空闲内存一半时放在内存中，否则流式读取</translation>
    </message>
    <message>
        <source>In order of time</source>
        <translation>按时间顺序</translation>
    </message>
    <message>
        <source>In proportion to the measured speed</source>
        <translation>与实测速度成比例</translation>
    </message>
    <message>
        <source>In proportion to the weights below</source>
        <translation>与下方的权重成比例</translation>
    </message>
    <message>
        <source>Loaded</source>
        <translation>已加载</translation>
    </message>
    <message>
        <source>Not in the file</source>
        <translation>不在文件中</translation>
    </message>
    <message>
        <source>Left over</source>
        <translation>未使用</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Loaded, by hand</source>
        <translation>已加载，手动</translation>
    </message>
    <message>
        <source>Loaded, by name</source>
        <translation>已加载，按名称</translation>
    </message>
    <message>
        <source>Loaded, by layout</source>
        <translation>已加载，按布局</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>在文件中</translation>
    </message>
    <message>
        <source>In the network</source>
        <translation>在网络中</translation>
    </message>
    <message>
        <source>Weights and where they come from</source>
        <translation>权重及其来源</translation>
    </message>
    <message>
        <source>{text}
Double click to take another name of the file</source>
        <translation>{text}
双击可使用文件中的其他名称</translation>
    </message>
    <message>
        <source>one number</source>
        <translation>一个数</translation>
    </message>
    <message>
        <source>{here} here, {there} in the file</source>
        <translation>此处为 {here}，文件中为 {there}</translation>
    </message>
    <message>
        <source>Name in the file</source>
        <translation>文件中的名称</translation>
    </message>
    <message>
        <source>In the order of time: training first, then validation, then test</source>
        <translation>按时间顺序：先训练，然后验证，再后测试</translation>
    </message>
    <message>
        <source>In training, each batch is cut to its shortest sequence</source>
        <translation>训练中，每个批量截断到其最短的序列</translation>
    </message>
    <message>
        <source>Inception modules: four kinds of filters side by side.</source>
        <translation>Inception 模块：四种滤波器并列。</translation>
    </message>
    <message>
        <source>Index cross entropy</source>
        <translation>索引交叉熵</translation>
    </message>
    <message>
        <source>Index whose vector stays zero, for padding</source>
        <translation>其向量保持为零的索引，用于填充</translation>
    </message>
    <message>
        <source>Indices</source>
        <translation>索引</translation>
    </message>
    <message>
        <source>Indices become numbers: a sequence with one channel</source>
        <translation>索引变为数值：单通道序列</translation>
    </message>
    <message>
        <source>Initial damping factor</source>
        <translation>初始阻尼因子</translation>
    </message>
    <message>
        <source>Initial inverse Hessian factor</source>
        <translation>初始逆黑塞因子</translation>
    </message>
    <message>
        <source>Initial learn rate</source>
        <translation>初始学习率</translation>
    </message>
    <message>
        <source>Initial slope below zero</source>
        <translation>零以下的初始斜率</translation>
    </message>
    <message>
        <source>Initial values of the bias</source>
        <translation>偏置的初始值</translation>
    </message>
    <message>
        <source>Initial values of the biases</source>
        <translation>各偏置的初始值</translation>
    </message>
    <message>
        <source>Initial values of the input projector</source>
        <translation>输入投影的初始值</translation>
    </message>
    <message>
        <source>Initial values of the input weights</source>
        <translation>输入权重的初始值</translation>
    </message>
    <message>
        <source>Initial values of the numbers</source>
        <translation>数值的初始值</translation>
    </message>
    <message>
        <source>Initial values of the output projector</source>
        <translation>输出投影的初始值</translation>
    </message>
    <message>
        <source>Initial values of the peepholes</source>
        <translation>窥视孔的初始值</translation>
    </message>
    <message>
        <source>Initial values of the recurrent weights</source>
        <translation>循环权重的初始值</translation>
    </message>
    <message>
        <source>Initial values of the scale</source>
        <translation>缩放的初始值</translation>
    </message>
    <message>
        <source>Initial values of the shift</source>
        <translation>偏移的初始值</translation>
    </message>
    <message>
        <source>Initial values of the thresholds</source>
        <translation>各阈值的初始值</translation>
    </message>
    <message>
        <source>Initial values of the weights</source>
        <translation>权重的初始值</translation>
    </message>
    <message>
        <source>Initialiser</source>
        <translation>初始化函数</translation>
    </message>
    <message>
        <source>Initialization function</source>
        <translation>初始化函数</translation>
    </message>
    <message>
        <source>Inner names</source>
        <translation>内部名称</translation>
    </message>
    <message>
        <source>Inner opsets</source>
        <translation>内部运算符集</translation>
    </message>
    <message>
        <source>Input L2 factor</source>
        <translation>输入 L2 因子</translation>
    </message>
    <message>
        <source>Input initialiser</source>
        <translation>输入初始化函数</translation>
    </message>
    <message>
        <source>Input normalisation</source>
        <translation>输入归一化</translation>
    </message>
    <message>
        <source>Input projector</source>
        <translation>输入投影</translation>
    </message>
    <message>
        <source>Input projector L2 factor</source>
        <translation>输入投影 L2 因子</translation>
    </message>
    <message>
        <source>Input projector initialiser</source>
        <translation>输入投影初始化函数</translation>
    </message>
    <message>
        <source>Input projector rate factor</source>
        <translation>输入投影学习率因子</translation>
    </message>
    <message>
        <source>Input rate factor</source>
        <translation>输入学习率因子</translation>
    </message>
    <message>
        <source>Input tensors</source>
        <translation>输入张量</translation>
    </message>
    <message>
        <source>Inputs</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Inputs and outputs float32</source>
        <translation>输入和输出为 float32</translation>
    </message>
    <message>
        <source>Inside</source>
        <translation>内部</translation>
    </message>
    <message>
        <source>Integer arrays</source>
        <translation>整数数组</translation>
    </message>
    <message>
        <source>Integer that stands for zero</source>
        <translation>代表零的整数</translation>
    </message>
    <message>
        <source>Integers below zero too: -128 to 127 with 8 bits, otherwise 0 to 255</source>
        <translation>包括零以下的整数：8 位时为 -128 到 127，否则为 0 到 255</translation>
    </message>
    <message>
        <source>Integrated gradients</source>
        <translation>积分梯度</translation>
    </message>
    <message>
        <source>Integration method of a step</source>
        <translation>一步的积分方法</translation>
    </message>
    <message>
        <source>Interface for gradients, such as ib0</source>
        <translation>用于梯度的接口，例如 ib0</translation>
    </message>
    <message>
        <source>Interleaved</source>
        <translation>交错</translation>
    </message>
    <message>
        <source>Interpolation method</source>
        <translation>插值方法</translation>
    </message>
    <message>
        <source>Interpreter on the hosts, a path or a command</source>
        <translation>主机上的解释器，路径或命令</translation>
    </message>
    <message>
        <source>Interval between saved training states</source>
        <translation>保存训练状态的间隔</translation>
    </message>
    <message>
        <source>Interval in epochs, as in MATLAB by default</source>
        <translation>以轮为单位的间隔，与 MATLAB 的默认设置相同</translation>
    </message>
    <message>
        <source>Interval in iterations</source>
        <translation>以迭代为单位的间隔</translation>
    </message>
    <message>
        <source>Interval in seconds</source>
        <translation>以秒为单位的间隔</translation>
    </message>
    <message>
        <source>Inverse hyperbolic cosine</source>
        <translation>反双曲余弦</translation>
    </message>
    <message>
        <source>Inverse hyperbolic sine</source>
        <translation>反双曲正弦</translation>
    </message>
    <message>
        <source>Inverse hyperbolic tangent</source>
        <translation>反双曲正切</translation>
    </message>
    <message>
        <source>Inverted residuals: small and fast enough for phones.</source>
        <translation>反向残差：小而快，适合手机。</translation>
    </message>
    <message>
        <source>Iterations</source>
        <translation>迭代</translation>
    </message>
    <message>
        <source>This run is still under way: what it has learned is shown here once it has ended.</source>
        <translation>此运行仍在进行：结束后将在此显示其学习结果。</translation>
    </message>
    <message>
        <source>This run has ended without a result: there is nothing that it has learned.</source>
        <translation>此运行已结束，但没有结果：没有可显示的学习结果。</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Show the whole run</source>
        <translation>显示整个运行</translation>
    </message>
    <message>
        <source>Show the whole run again; a double click on a plot does the same</source>
        <translation>重新显示整个运行；双击绘图也可以</translation>
    </message>
    <message>
        <source>Messages of the run, and the output of the engine</source>
        <translation>运行的消息和引擎的输出</translation>
    </message>
    <message>
        <source>Unit of the horizontal axes</source>
        <translation>横轴的单位</translation>
    </message>
    <message>
        <source>Logarithmic x axis</source>
        <translation>对数 x 轴</translation>
    </message>
    <message>
        <source>Smoothing of the training curves: {percent:.2f}</source>
        <translation>训练曲线的平滑程度：{percent:.2f}</translation>
    </message>
    <message>
        <source>Iterations between two averages of the weights</source>
        <translation>两次权重平均之间的迭代次数</translation>
    </message>
    <message>
        <source>Iterations of a linear rise before the schedule</source>
        <translation>调度之前线性上升的迭代次数</translation>
    </message>
    <message>
        <source>Iterations, or epochs, between validations</source>
        <translation>两次验证之间的迭代次数或轮数</translation>
    </message>
    <message>
        <source>Jobs of Slurm, by sbatch</source>
        <translation>通过 sbatch 提交的 Slurm 作业</translation>
    </message>
    <message>
        <source>Jobs on clusters…</source>
        <translation>集群上的作业…</translation>
    </message>
    <message>
        <source>Joins its inputs along one axis: channels (depth concatenation), unless told otherwise.</source>
        <translation>沿一个轴连接各输入：除非另有指定，沿通道（深度串联）。</translation>
    </message>
    <message>
        <source>K</source>
        <translation>K</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Keep a copy of the selected block in the layer library, for every project</source>
        <translation>在层库中保留所选模块的副本，供所有项目使用</translation>
    </message>
    <message>
        <source>Keep axes</source>
        <translation>保留这些轴</translation>
    </message>
    <message>
        <source>Keep the axis</source>
        <translation>保留该轴</translation>
    </message>
    <message>
        <source>Keep weights on the CPU</source>
        <translation>将权重保留在 CPU 上</translation>
    </message>
    <message>
        <source>Keep workers to cores</source>
        <translation>将工作单元固定到核</translation>
    </message>
    <message>
        <source>Keep zeros</source>
        <translation>保留零</translation>
    </message>
    <message>
        <source>Keeps scale and shift fixed during training</source>
        <translation>训练期间保持缩放和偏移固定</translation>
    </message>
    <message>
        <source>Keeps scale, shift and running statistics fixed during training, and normalises by the running statistics</source>
        <translation>训练期间保持缩放、偏移和移动统计量固定，并按移动统计量归一化</translation>
    </message>
    <message>
        <source>Keeps the largest number of each cell of a fixed grid, whatever the size of the image.</source>
        <translation>保留固定网格中每个单元格的最大值，与图像大小无关。</translation>
    </message>
    <message>
        <source>Keeps the largest number of each cell of a fixed grid, whatever the size of the volume.</source>
        <translation>保留固定网格中每个单元格的最大值，与体数据大小无关。</translation>
    </message>
    <message>
        <source>Keeps the largest number of each channel over all positions: an image, a volume or a sequence becomes features.</source>
        <translation>保留每个通道在所有位置上的最大值：图像、体数据或序列变为特征。</translation>
    </message>
    <message>
        <source>Keeps the largest number of each of a fixed number of cells along a sequence of any length.</source>
        <translation>沿任意长度的序列，保留固定数量单元格中各自的最大值。</translation>
    </message>
    <message>
        <source>Keeps the largest number of each window along a sequence. Padding is ignored.</source>
        <translation>沿序列保留每个窗的最大值。忽略填充。</translation>
    </message>
    <message>
        <source>Keeps the largest number of each window of a volume. Padding is ignored.</source>
        <translation>保留体数据中每个窗的最大值。忽略填充。</translation>
    </message>
    <message>
        <source>Keeps the largest number of each window of an image. Padding is ignored.</source>
        <translation>保留图像中每个窗的最大值。忽略填充。</translation>
    </message>
    <message>
        <source>Keeps the largest number of windows that lie at random places of a volume, so that it shrinks a little.</source>
        <translation>保留体数据中随机位置各窗的最大值，使其略微缩小。</translation>
    </message>
    <message>
        <source>Keeps the largest number of windows that lie at random places of an image, so that it shrinks a little.</source>
        <translation>保留图像中随机位置各窗的最大值，使其略微缩小。</translation>
    </message>
    <message>
        <source>Keeps the layer&apos;s weights fixed during training</source>
        <translation>训练期间保持该层的权重固定</translation>
    </message>
    <message>
        <source>Keeps the pooled axes with size 1, for example to multiply channels by their means</source>
        <translation>将池化的轴保留为大小 1，例如用于将通道乘以其均值</translation>
    </message>
    <message>
        <source>Keeps the reduced axis with size 1, so that the layout stays the same</source>
        <translation>将归约的轴保留为大小 1，使布局保持不变</translation>
    </message>
    <message>
        <source>Keeps the weights of all layers inside fixed during training, whatever their own setting</source>
        <translation>训练期间保持内部所有层的权重固定，无论其自身设置如何</translation>
    </message>
    <message>
        <source>Keeps weights and moments in CPU memory</source>
        <translation>将权重和矩保存在 CPU 内存中</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>核</translation>
    </message>
    <message>
        <source>Key channels</source>
        <translation>键通道数</translation>
    </message>
    <message>
        <source>Keys of the network and those of the file that fill them, such as fc_2.weight=head.weight, for weights that are not found by layer or by name</source>
        <translation>网络的键与文件中填充它们的键，例如 fc_2.weight=head.weight，用于按层或按名称都找不到的权重</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>种类</translation>
    </message>
    <message>
        <source>Known future inputs</source>
        <translation>已知的未来输入</translation>
    </message>
    <message>
        <source>L-BFGS</source>
        <translation>L-BFGS</translation>
    </message>
    <message>
        <source>L2 factor</source>
        <translation>L2 因子</translation>
    </message>
    <message>
        <source>L2 norm of all gradients</source>
        <translation>所有梯度的 L2 范数</translation>
    </message>
    <message>
        <source>L2 norm per parameter</source>
        <translation>每个参数的 L2 范数</translation>
    </message>
    <message>
        <source>L2 regularisation</source>
        <translation>L2 正则化</translation>
    </message>
    <message>
        <source>Label smoothing</source>
        <translation>标签平滑</translation>
    </message>
    <message>
        <source>Labels</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Lags</source>
        <translation>滞后</translation>
    </message>
    <message>
        <source>Lags may be shared</source>
        <translation>滞后可共享</translation>
    </message>
    <message>
        <source>Largest change b of brightness</source>
        <translation>亮度的最大变化 b</translation>
    </message>
    <message>
        <source>Largest change c of contrast</source>
        <translation>对比度的最大变化 c</translation>
    </message>
    <message>
        <source>Largest change s of saturation</source>
        <translation>饱和度的最大变化 s</translation>
    </message>
    <message>
        <source>Largest loss of accuracy, or of R² for numbers, by the conversion</source>
        <translation>转换造成的准确度（数值则为 R²）的最大损失</translation>
    </message>
    <message>
        <source>Largest rotation of hues, 0 to 0.5 of the circle</source>
        <translation>色调的最大旋转，为圆周的 0 到 0.5</translation>
    </message>
    <message>
        <source>Largest size of the shards in the user&apos;s cache folder: remote ones, and converted Parquet files</source>
        <translation>用户缓存文件夹中分片的最大大小：远程分片和转换后的 Parquet 文件</translation>
    </message>
    <message>
        <source>Largest slope below zero</source>
        <translation>零以下的最大斜率</translation>
    </message>
    <message>
        <source>Largest vocabulary</source>
        <translation>词汇表最大大小</translation>
    </message>
    <message>
        <source>Best</source>
        <translation>最佳</translation>
    </message>
    <message>
        <source>Result of the run</source>
        <translation>运行的结果</translation>
    </message>
    <message>
        <source>Number of classes that are shown. Default 5.</source>
        <translation>显示的类别数。默认为 5。</translation>
    </message>
    <message>
        <source>Weights of the run, those of its result by default.</source>
        <translation>运行的权重，默认为其结果的权重。</translation>
    </message>
    <message>
        <source>Samples per batch</source>
        <translation>每个批量的样本数</translation>
    </message>
    <message>
        <source>By default as many as suit their size, up to 1,024.</source>
        <translation>默认按样本大小取合适的数量，最多 1,024。</translation>
    </message>
    <message>
        <source>Pixels</source>
        <translation>像素</translation>
    </message>
    <message>
        <source>Range of the pixels that the network takes. Default 0 to 1.</source>
        <translation>网络所接收像素的范围。默认为 0 到 1。</translation>
    </message>
    <message>
        <source>Class names</source>
        <translation>类别名称</translation>
    </message>
    <message>
        <source>A text file with the name of a class per line.</source>
        <translation>每行一个类别名称的文本文件。</translation>
    </message>
    <message>
        <source>Names of the classes, one per line</source>
        <translation>类别的名称，每行一个</translation>
    </message>
    <message>
        <source>Text (*.txt *.csv)</source>
        <translation>文本 (*.txt *.csv)</translation>
    </message>
    <message>
        <source>The names cannot be read</source>
        <translation>无法读取名称</translation>
    </message>
    <message>
        <source>{count:,} names</source>
        <translation>{count:,} 个名称</translation>
    </message>
    <message>
        <source>The best validation result of {run}</source>
        <translation>{run} 的最佳验证结果</translation>
    </message>
    <message>
        <source>Last</source>
        <translation>最后一个</translation>
    </message>
    <message>
        <source>The last iteration of {run}</source>
        <translation>{run} 的最后一次迭代</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>已训练</translation>
    </message>
    <message>
        <source>As trained in {run}</source>
        <translation>在 {run} 中训练所得</translation>
    </message>
    <message>
        <source>No run of this project has trained weights yet</source>
        <translation>此项目的运行尚无已训练的权重</translation>
    </message>
    <message>
        <source>{run} has no weights yet: they can be exported once it has saved some</source>
        <translation>{run} 尚无权重：保存权重后即可导出</translation>
    </message>
    <message>
        <source>The network on the canvas with initial weights</source>
        <translation>画布上的网络，使用初始权重</translation>
    </message>
    <message>
        <source>Untrained</source>
        <translation>未训练</translation>
    </message>
    <message>
        <source>Last batch</source>
        <translation>最后一个批量</translation>
    </message>
    <message>
        <source>Last iteration</source>
        <translation>最后一次迭代</translation>
    </message>
    <message>
        <source>Latin-1</source>
        <translation>Latin-1</translation>
    </message>
    <message>
        <source>Lay out only the selected layers, where they are</source>
        <translation>仅在原处排列所选的层</translation>
    </message>
    <message>
        <source>Lay the network out in layers</source>
        <translation>将网络按层次排列</translation>
    </message>
    <message>
        <source>Layers treat padding as data, as in MATLAB</source>
        <translation>层将填充视为数据，与 MATLAB 相同</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>布局</translation>
    </message>
    <message>
        <source>Layout of the output</source>
        <translation>输出的布局</translation>
    </message>
    <message>
        <source>Layout of the output, with one axis per letter</source>
        <translation>输出的布局，每个轴一个字母</translation>
    </message>
    <message>
        <source>Lays the steps of a sequence out as an image, row by row; the numbers of a step become its channels.</source>
        <translation>将序列的时间步逐行排成图像；一个时间步的数值成为其通道。</translation>
    </message>
    <message>
        <source>Lays windows, the steps of a sequence, over each other to an image; where they overlap they are added. (col2im)</source>
        <translation>将作为序列时间步的各窗重新叠成图像；重叠处相加。(col2im)</translation>
    </message>
    <message>
        <source>Learn</source>
        <translation>学习</translation>
    </message>
    <message>
        <source>Learn rate by workers</source>
        <translation>学习率随工作单元数</translation>
    </message>
    <message>
        <source>Learn rate decay</source>
        <translation>学习率衰减</translation>
    </message>
    <message>
        <source>Learn rate drop factor</source>
        <translation>学习率下降因子</translation>
    </message>
    <message>
        <source>Learn rate drop period</source>
        <translation>学习率下降周期</translation>
    </message>
    <message>
        <source>Learn rate factor</source>
        <translation>学习率因子</translation>
    </message>
    <message>
        <source>Learn rate schedule</source>
        <translation>学习率调度</translation>
    </message>
    <message>
        <source>Learns a scale and a shift for each channel</source>
        <translation>为每个通道学习缩放和偏移</translation>
    </message>
    <message>
        <source>Learns a scale for each channel</source>
        <translation>为每个通道学习缩放</translation>
    </message>
    <message>
        <source>Learns one slope for each channel, otherwise one for all</source>
        <translation>为每个通道学习一个斜率，否则全体共用一个</translation>
    </message>
    <message>
        <source>Leave it out</source>
        <translation>将其排除</translation>
    </message>
    <message>
        <source>Leave the rows out</source>
        <translation>排除这些行</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>左侧</translation>
    </message>
    <message>
        <source>Left-right reflection</source>
        <translation>左右翻转</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>Length of a window of the Fourier transform (Hann)</source>
        <translation>傅里叶变换的窗长 (Hann)</translation>
    </message>
    <message>
        <source>Length of each sound in seconds: longer ones are cut at their end, shorter ones filled with silence</source>
        <translation>每段声音的长度（秒）：较长的在末端截断，较短的以静音补足</translation>
    </message>
    <message>
        <source>Length of each vector, which is the number of different indices</source>
        <translation>每个向量的长度，即不同索引的数量</translation>
    </message>
    <message>
        <source>Length of pieces</source>
        <translation>分段长度</translation>
    </message>
    <message>
        <source>Length of sequences</source>
        <translation>序列长度</translation>
    </message>
    <message>
        <source>Length of the sequence</source>
        <translation>序列的长度</translation>
    </message>
    <message>
        <source>Length of the vector of a patch</source>
        <translation>图像块向量的长度</translation>
    </message>
    <message>
        <source>Length of the vector of a position</source>
        <translation>位置向量的长度</translation>
    </message>
    <message>
        <source>Length of the vector of an index</source>
        <translation>索引向量的长度</translation>
    </message>
    <message>
        <source>Length that every sequence is cut or padded to, at its end and with zeros</source>
        <translation>每个序列在末端截断或以零填充到的长度</translation>
    </message>
    <message>
        <source>Length to which each window is zero-padded</source>
        <translation>每个窗补零到的长度</translation>
    </message>
    <message>
        <source>Let the custom layers and functions of this project run</source>
        <translation>允许运行此项目的自定义层和函数</translation>
    </message>
    <message>
        <source>Let the engine balance them when a run starts</source>
        <translation>由引擎在运行开始时均衡</translation>
    </message>
    <message>
        <source>Lets each step of a sequence gather from the others what resembles what it asks for.</source>
        <translation>让序列的每个时间步从其他时间步中汇集与其所求相似的内容。</translation>
    </message>
    <message>
        <source>Lets its input flow along the network inside, as a differential equation from one time to another.</source>
        <translation>让输入按微分方程从一个时刻流经内部网络到另一个时刻。</translation>
    </message>
    <message>
        <source>Letters of each input, an arrow, letters of the output</source>
        <translation>每个输入的字母、箭头、输出的字母</translation>
    </message>
    <message>
        <source>Levels</source>
        <translation>级数</translation>
    </message>
    <message>
        <source>Levenberg-Marquardt, for regressions of few weights</source>
        <translation>Levenberg-Marquardt，用于权重较少的回归</translation>
    </message>
    <message>
        <source>Levenberg–Marquardt</source>
        <translation>Levenberg–Marquardt</translation>
    </message>
    <message>
        <source>Light or dark, as the desktop is</source>
        <translation>与桌面一致，浅色或深色</translation>
    </message>
    <message>
        <source>Like another input</source>
        <translation>与另一输入相同</translation>
    </message>
    <message>
        <source>Limit above which values pass unchanged</source>
        <translation>高于此界限的值原样通过</translation>
    </message>
    <message>
        <source>Limit to which gradients are clipped</source>
        <translation>梯度裁剪的界限</translation>
    </message>
    <message>
        <source>Limits</source>
        <translation>界限</translation>
    </message>
    <message>
        <source>Line search</source>
        <translation>线搜索</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>List</source>
        <translation>列表</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>These values</source>
        <translation>这些值</translation>
    </message>
    <message>
        <source>From the first to the second value, evenly apart</source>
        <translation>从第一个值到第二个值，等间隔</translation>
    </message>
    <message>
        <source>From the first to the second value, by an even factor</source>
        <translation>从第一个值到第二个值，等比例</translation>
    </message>
    <message>
        <source>Values: 32, 128, 512
Range: 0.005 to 0.5</source>
        <translation>值：32, 128, 512
范围：0.005 到 0.5</translation>
    </message>
    <message>
        <source>only numbers have a range.</source>
        <translation>只有数值才有范围。</translation>
    </message>
    <message>
        <source>Scale</source>
        <comment>of values</comment>
        <translation>标度</translation>
    </message>
    <message>
        <source>{part} of {label}</source>
        <translation>{label}的{part}</translation>
    </message>
    <message>
        <source>Count of {label}</source>
        <translation>{label}的个数</translation>
    </message>
    <message>
        <source>Values of this range in the grid</source>
        <translation>网格中该范围的取值个数</translation>
    </message>
    <message>
        <source>Vary it no more</source>
        <translation>不再变化</translation>
    </message>
    <message>
        <source>Remove {label}</source>
        <translation>移除{label}</translation>
    </message>
    <message>
        <source>{count:,} of {total:,}</source>
        <translation>{total:,} 个中的 {count:,} 个</translation>
    </message>
    <message>
        <source>Only numbers have a range</source>
        <translation>只有数值才有范围</translation>
    </message>
    <message>
        <source>Any value of the range</source>
        <translation>范围内的任意值</translation>
    </message>
    <message>
        <source>Where {when}</source>
        <translation>当 {when} 时</translation>
    </message>
    <message>
        <source>What varies</source>
        <translation>变化的内容</translation>
    </message>
    <message>
        <source>Linear interpolation between the positions on both sides, along each axis</source>
        <translation>沿每个轴在两侧的位置之间线性插值</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Local SGD</source>
        <translation>局部 SGD</translation>
    </message>
    <message>
        <source>Log magnitude</source>
        <translation>对数幅值</translation>
    </message>
    <message>
        <source>Log power</source>
        <translation>对数功率</translation>
    </message>
    <message>
        <source>Log-sum-exp</source>
        <translation>Log-sum-exp</translation>
    </message>
    <message>
        <source>Logarithm</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Long short-term memory: gates decide at each step what is kept, forgotten and shown.</source>
        <translation>长短期记忆：各个门在每个时间步决定保留、遗忘和输出的内容。</translation>
    </message>
    <message>
        <source>Longer runs on the CPU try numbers of processes and threads at their start</source>
        <translation>CPU 上较长的运行在开始时尝试不同的进程数和线程数</translation>
    </message>
    <message>
        <source>Longest</source>
        <translation>最长</translation>
    </message>
    <message>
        <source>Longest text</source>
        <translation>最长文本</translation>
    </message>
    <message>
        <source>Looks up a learned vector for each index and makes one of all: what is in a sequence, not in which order.</source>
        <translation>为每个索引查找可学习的向量，并合为一个：反映序列中有什么，而不反映顺序。</translation>
    </message>
    <message>
        <source>Looks up a learned vector for each index of a sequence, such as for each word.</source>
        <translation>为序列的每个索引（例如每个单词）查找可学习的向量。</translation>
    </message>
    <message>
        <source>Samples per second</source>
        <translation>每秒样本数</translation>
    </message>
    <message>
        <source>Share of measured peak</source>
        <translation>占实测峰值的比例</translation>
    </message>
    <message>
        <source>What the layers compute, as a share of what the device was measured to do, appears here once a training has lasted a few seconds.</source>
        <translation>训练持续几秒后，此处显示各层的计算速度占设备实测速度的比例。</translation>
    </message>
    <message>
        <source>Memory, MiB</source>
        <translation>内存，MiB</translation>
    </message>
    <message>
        <source>Utilisation</source>
        <translation>利用率</translation>
    </message>
    <message>
        <source>How busy the processors or GPUs are appears here when training starts, where it is known.</source>
        <translation>训练开始后，如果可知，此处显示处理器或 GPU 的繁忙程度。</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>No gradient norm is measured. Switch it on with ⋯ beside the buttons of a run that trains, or in the training options for the next one.</source>
        <translation>未测量梯度范数。可用正在训练的运行的按钮旁的 ⋯ 打开，或在训练选项中为下一个运行打开。</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>步耗时</translation>
    </message>
    <message>
        <source>Shares of the time of steps appear here.</source>
        <translation>此处显示每步时间的各部分比例。</translation>
    </message>
    <message>
        <source>Most uncertain samples</source>
        <translation>最不确定的样本</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Click a cell of the confusion matrix, or a group, to see its samples.</source>
        <translation>单击混淆矩阵的单元格或某个组可查看其样本。</translation>
    </message>
    <message>
        <source>Which samples</source>
        <translation>哪些样本</translation>
    </message>
    <message>
        <source>Loading samples…</source>
        <translation>正在加载样本…</translation>
    </message>
    <message>
        <source>There are no such samples.</source>
        <translation>没有这样的样本。</translation>
    </message>
    <message>
        <source>the first {count:,} of {total:,}</source>
        <translation>{total:,} 个中的前 {count:,} 个</translation>
    </message>
    <message>
        <source>dashed: the forecast</source>
        <translation>虚线：预测</translation>
    </message>
    <message>
        <source>each: image, true classes, predicted classes, wrong pixels</source>
        <translation>每个依次为：图像、真实类别、预测类别、错误像素</translation>
    </message>
    <message>
        <source>Double-click a row to look inside the network with this sample</source>
        <translation>双击一行可用此样本查看网络内部</translation>
    </message>
    <message>
        <source>Click to look inside the network with this sample</source>
        <translation>单击可用此样本查看网络内部</translation>
    </message>
    <message>
        <source>Error</source>
        <comment>of a sample</comment>
        <translation>误差</translation>
    </message>
    <message>
        <source>Loss and weight per output</source>
        <translation>每个输出的损失和权重</translation>
    </message>
    <message>
        <source>Loss function</source>
        <translation>损失函数</translation>
    </message>
    <message>
        <source>Lower case</source>
        <translation>小写</translation>
    </message>
    <message>
        <source>Lower decay in the first steps</source>
        <translation>最初若干步采用较低的衰减</translation>
    </message>
    <message>
        <source>Lower limit of the base where the exponent is not a whole number</source>
        <translation>指数不是整数时底数的下限</translation>
    </message>
    <message>
        <source>Lower limit of the function&apos;s argument</source>
        <translation>函数自变量的下限</translation>
    </message>
    <message>
        <source>Lower limit of the output</source>
        <translation>输出的下限</translation>
    </message>
    <message>
        <source>Lower limit of the vectors&apos; lengths, to avoid division by zero</source>
        <translation>向量长度的下限，以避免除以零</translation>
    </message>
    <message>
        <source>Lower slope</source>
        <translation>下侧斜率</translation>
    </message>
    <message>
        <source>Lowest rate as a fraction of the initial one, 0 to 1</source>
        <translation>最低学习率占初始学习率的比例，0 到 1</translation>
    </message>
    <message>
        <source>Lowest rate factor</source>
        <translation>最低学习率因子</translation>
    </message>
    <message>
        <source>MAE on the validation split</source>
        <translation>验证部分的 MAE</translation>
    </message>
    <message>
        <source>MAPE on the validation split</source>
        <translation>验证部分的 MAPE</translation>
    </message>
    <message>
        <source>MATLAB</source>
        <translation>MATLAB</translation>
    </message>
    <message>
        <source>MATLAB&apos;s formulas</source>
        <translation>MATLAB 的公式</translation>
    </message>
    <message>
        <source>MATLAB&apos;s mse: half the squared error</source>
        <translation>MATLAB 的 mse：误差平方的一半</translation>
    </message>
    <message>
        <source>Machine whose process directs a run</source>
        <translation>由其进程主导运行的机器</translation>
    </message>
    <message>
        <source>Macro</source>
        <translation>宏平均</translation>
    </message>
    <message>
        <source>Magnitude</source>
        <translation>幅值</translation>
    </message>
    <message>
        <source>Main metric (the first of the list) on the validation split</source>
        <translation>验证部分的主要度量（列表中的第一个）</translation>
    </message>
    <message>
        <source>Main metric of the validation split</source>
        <translation>验证部分的主要度量</translation>
    </message>
    <message>
        <source>Makes a sequence longer or shorter by interpolation. (Upsample, interpolate)</source>
        <translation>通过插值加长或缩短序列。（上采样、插值）</translation>
    </message>
    <message>
        <source>Makes a sequence longer with learned filters.</source>
        <translation>用可学习的滤波器加长序列。</translation>
    </message>
    <message>
        <source>Makes a sequence of one vector: the same at each step.</source>
        <translation>由一个向量生成序列：每个时间步都相同。</translation>
    </message>
    <message>
        <source>Makes a signal of its continuous wavelet transform: of the parts that the layer for it gives.</source>
        <translation>由连续小波变换重建信号：使用相应层给出的各部分。</translation>
    </message>
    <message>
        <source>Makes a signal of its short-time Fourier transform: of the parts that the layer for it gives.</source>
        <translation>由短时傅里叶变换重建信号：使用相应层给出的各部分。</translation>
    </message>
    <message>
        <source>Makes a vector of each index: one at its place, zero elsewhere. Nothing is learned.</source>
        <translation>将每个索引变为向量：其位置为一，其余为零。不学习任何内容。</translation>
    </message>
    <message>
        <source>Makes a volume larger or smaller by interpolation. (Upsample, interpolate)</source>
        <translation>通过插值放大或缩小体数据。（上采样、插值）</translation>
    </message>
    <message>
        <source>Makes a volume larger with learned filters.</source>
        <translation>用可学习的滤波器放大体数据。</translation>
    </message>
    <message>
        <source>Makes an image larger or smaller by interpolation. (Upsample, interpolate)</source>
        <translation>通过插值放大或缩小图像。（上采样、插值）</translation>
    </message>
    <message>
        <source>Makes an image larger with learned filters.</source>
        <translation>用可学习的滤波器放大图像。</translation>
    </message>
    <message>
        <source>Makes complex numbers of pairs of channels; the output has half as many channels.</source>
        <translation>由成对的通道构成复数；输出的通道数减半。</translation>
    </message>
    <message>
        <source>Makes numbers of indices, or indices of numbers: a sequence with one channel, or tokens.</source>
        <translation>将索引变为数值，或将数值变为索引：单通道序列或词元。</translation>
    </message>
    <message>
        <source>Makes one number of all along an axis: mean, sum, max, min, norm, variance or logsumexp.</source>
        <translation>沿一个轴将所有数合为一个：均值、和、最大值、最小值、范数、方差或 logsumexp。</translation>
    </message>
    <message>
        <source>Makes one vector of all numbers of a sample, the last axis first: an image becomes features.</source>
        <translation>将样本的所有数值变为一个向量，最后一个轴在先：图像变为特征。</translation>
    </message>
    <message>
        <source>Makes real numbers of complex ones: both parts as channels, or magnitude, power or phase.</source>
        <translation>将复数变为实数：以两部分作为通道，或取幅值、功率或相位。</translation>
    </message>
    <message>
        <source>Manhattan</source>
        <translation>曼哈顿</translation>
    </message>
    <message>
        <source>Manual backward</source>
        <translation>手动反向传播</translation>
    </message>
    <message>
        <source>Many values of options and layers, side by side, and which is best</source>
        <translation>并列尝试选项和层的多个值，找出最佳值</translation>
    </message>
    <message>
        <source>Mapping from output positions to input positions</source>
        <translation>输出位置到输入位置的映射</translation>
    </message>
    <message>
        <source>Masked</source>
        <translation>掩码</translation>
    </message>
    <message>
        <source>Masked steps</source>
        <translation>掩码时间步</translation>
    </message>
    <message>
        <source>Max damping factor</source>
        <translation>最大阻尼因子</translation>
    </message>
    <message>
        <source>Max epochs</source>
        <translation>最大训练轮数</translation>
    </message>
    <message>
        <source>Max iterations</source>
        <translation>最大迭代次数</translation>
    </message>
    <message>
        <source>Max line search iterations</source>
        <translation>最大线搜索迭代次数</translation>
    </message>
    <message>
        <source>Max restarts</source>
        <translation>最大重启次数</translation>
    </message>
    <message>
        <source>Maximum</source>
        <translation>最大值</translation>
    </message>
    <message>
        <source>Maximum activation</source>
        <translation>最大激活</translation>
    </message>
    <message>
        <source>Maximum damping</source>
        <translation>最大阻尼</translation>
    </message>
    <message>
        <source>Maximum number of loss evaluations per line search</source>
        <translation>每次线搜索计算损失的最大次数</translation>
    </message>
    <message>
        <source>Maximum of the data, one number for all channels or one per channel</source>
        <translation>数据的最大值，所有通道一个数或每个通道一个数</translation>
    </message>
    <message>
        <source>Maximum of the responses, in their units</source>
        <translation>响应的最大值，以其单位计</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Mean absolute error</source>
        <translation>平均绝对误差</translation>
    </message>
    <message>
        <source>Mean absolute percentage error</source>
        <translation>平均绝对百分比误差</translation>
    </message>
    <message>
        <source>Mean and variance over all training samples</source>
        <translation>所有训练样本的均值和方差</translation>
    </message>
    <message>
        <source>Mean negative log likelihood of the true class</source>
        <translation>真实类别的负对数似然均值</translation>
    </message>
    <message>
        <source>Mean of the data, one number for all channels or one per channel</source>
        <translation>数据的均值，所有通道一个数或每个通道一个数</translation>
    </message>
    <message>
        <source>Mean of the responses, in their units</source>
        <translation>响应的均值，以其单位计</translation>
    </message>
    <message>
        <source>Mean over the classes that occur</source>
        <translation>对出现的类别取均值</translation>
    </message>
    <message>
        <source>Mean over the classes, weighted by their samples</source>
        <translation>对类别取均值，按其样本数加权</translation>
    </message>
    <message>
        <source>Mean over the ends of the last epochs</source>
        <translation>对最后几轮的结束状态取均值</translation>
    </message>
    <message>
        <source>Mean squared error</source>
        <translation>均方误差</translation>
    </message>
    <message>
        <source>Measure speed</source>
        <translation>测量速度</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>Measured on the training split, or kept from the weights that a run starts from</source>
        <translation>在训练部分测量，或沿用运行的起始权重中的值</translation>
    </message>
    <message>
        <source>Measures input statistics despite weights</source>
        <translation>有权重时仍测量输入统计量</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>Mel bands</source>
        <translation>梅尔频带</translation>
    </message>
    <message>
        <source>Mel spectrogram</source>
        <translation>梅尔频谱图</translation>
    </message>
    <message>
        <source>Memory for decoded images that are streamed, over all workers and at most a quarter of what is free, so that later epochs need not decode them again</source>
        <translation>用于流式图像解码结果的内存，所有工作单元合计且最多为空闲内存的四分之一，使后续轮无需再次解码</translation>
    </message>
    <message>
        <source>Memory mask</source>
        <translation>记忆掩码</translation>
    </message>
    <message>
        <source>Use the result</source>
        <translation>使用结果</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>The trials were interrupted: the process has ended. Try again.</source>
        <translation>试验已中断：进程已结束。请重试。</translation>
    </message>
    <message>
        <source>Find the largest mini-batch…</source>
        <translation>查找最大的小批量…</translation>
    </message>
    <message>
        <source>Tries larger and larger mini-batches in a separate process, up to half of the CPU&apos;s memory or all of a GPU&apos;s</source>
        <translation>在单独的进程中尝试越来越大的小批量，最多使用一半的 CPU 内存或全部的 GPU 内存</translation>
    </message>
    <message>
        <source>{count:,} does not fit…</source>
        <translation>{count:,} 放不下…</translation>
    </message>
    <message>
        <source>{count:,} fits…</source>
        <translation>{count:,} 放得下…</translation>
    </message>
    <message>
        <source>Use {count:,}</source>
        <translation>使用 {count:,}</translation>
    </message>
    <message>
        <source>Compare environments…</source>
        <translation>比较环境…</translation>
    </message>
    <message>
        <source>Predicts the memory per worker (beside about 200 MiB for its process) and the time per step for each environment and strategy, by running 20 steps</source>
        <translation>通过运行 20 步，预测每种环境和策略下每个工作单元的内存（其进程另需约 200 MiB）和每步时间</translation>
    </message>
    <message>
        <source>Memory per worker</source>
        <translation>每个工作单元的内存</translation>
    </message>
    <message>
        <source>Comparison of environments</source>
        <translation>环境的比较</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>正在比较…</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>方法</translation>
    </message>
    <message>
        <source>Method that averages the values per class</source>
        <translation>对各类别的值取平均的方法</translation>
    </message>
    <message>
        <source>Method that batches sequences of different lengths</source>
        <translation>将不同长度的序列组成批量的方法</translation>
    </message>
    <message>
        <source>Method that finds the step length</source>
        <translation>求步长的方法</translation>
    </message>
    <message>
        <source>Metric</source>
        <translation>度量</translation>
    </message>
    <message>
        <source>Metric function</source>
        <translation>度量函数</translation>
    </message>
    <message>
        <source>Metric that ends the run at its target value</source>
        <translation>达到目标值时结束运行的度量</translation>
    </message>
    <message>
        <source>Metrics</source>
        <translation>度量</translation>
    </message>
    <message>
        <source>Metrics beside the loss, the main one first</source>
        <translation>损失之外的度量，主要的排在最前</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>MiB</translation>
    </message>
    <message>
        <source>Micro</source>
        <translation>微平均</translation>
    </message>
    <message>
        <source>Midpoint</source>
        <translation>中点法</translation>
    </message>
    <message>
        <source>Midpoint: second order, two evaluations per step</source>
        <translation>中点法：二阶，每步两次计算</translation>
    </message>
    <message>
        <source>Mini-batch size</source>
        <translation>小批量大小</translation>
    </message>
    <message>
        <source>Mini-batch size against learn rate</source>
        <translation>小批量大小与学习率的组合</translation>
    </message>
    <message>
        <source>Minimum</source>
        <translation>最小值</translation>
    </message>
    <message>
        <source>Minimum and maximum of the training split become -1 and 1</source>
        <translation>训练部分的最小值和最大值变为 -1 和 1</translation>
    </message>
    <message>
        <source>Minimum and maximum of the training split become 0 and 1</source>
        <translation>训练部分的最小值和最大值变为 0 和 1</translation>
    </message>
    <message>
        <source>Minimum of the data, one number for all channels or one per channel</source>
        <translation>数据的最小值，所有通道一个数或每个通道一个数</translation>
    </message>
    <message>
        <source>Minimum of the responses, in their units</source>
        <translation>响应的最小值，以其单位计</translation>
    </message>
    <message>
        <source>Minimum relative improvement</source>
        <translation>最小相对改进</translation>
    </message>
    <message>
        <source>Minus the mean of the training split</source>
        <translation>减去训练部分的均值</translation>
    </message>
    <message>
        <source>Minus the mean, divided by the standard deviation of the training split</source>
        <translation>减去训练部分的均值，再除以其标准差</translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation>分钟</translation>
    </message>
    <message>
        <source>Missing values</source>
        <translation>缺失值</translation>
    </message>
    <message>
        <source>Missing values are filled with the last one before them in the same series</source>
        <translation>缺失值以同一序列中其前面的最后一个值填补</translation>
    </message>
    <message>
        <source>Missing values of inputs become one fitted on the training rows, also in new rows</source>
        <translation>输入的缺失值以由训练行拟合的值填补，新的行也是如此</translation>
    </message>
    <message>
        <source>MixUp</source>
        <translation>MixUp</translation>
    </message>
    <message>
        <source>MobileNetV2</source>
        <translation>MobileNetV2</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>Modes</source>
        <translation>模数</translation>
    </message>
    <message>
        <source>Momentum</source>
        <translation>动量</translation>
    </message>
    <message>
        <source>Momentum decay</source>
        <translation>动量衰减</translation>
    </message>
    <message>
        <source>Monitoring</source>
        <translation>监控</translation>
    </message>
    <message>
        <source>Mono</source>
        <translation>单声道</translation>
    </message>
    <message>
        <source>Month first</source>
        <translation>月在前</translation>
    </message>
    <message>
        <source>More options</source>
        <translation>更多选项</translation>
    </message>
    <message>
        <source>Reset columns</source>
        <translation>重置列</translation>
    </message>
    <message>
        <source>More options of sbatch</source>
        <translation>sbatch 的更多选项</translation>
    </message>
    <message>
        <source>Morlet</source>
        <translation>Morlet</translation>
    </message>
    <message>
        <source>Morse</source>
        <translation>Morse</translation>
    </message>
    <message>
        <source>Most frequent</source>
        <translation>最常见的值</translation>
    </message>
    <message>
        <source>Most iterations, each over all training samples</source>
        <translation>最大迭代次数，每次遍历全部训练样本</translation>
    </message>
    <message>
        <source>Most steps in a row that are masked</source>
        <translation>连续掩码的最大时间步数</translation>
    </message>
    <message>
        <source>Moves numbers towards zero by a threshold, and no further: sign(x) · max(0, |x| - threshold).</source>
        <translation>将数值向零移动一个阈值，但不越过零：sign(x) · max(0, |x| - threshold)。</translation>
    </message>
    <message>
        <source>Moving</source>
        <translation>移动</translation>
    </message>
    <message>
        <source>Multilayer perceptron</source>
        <translation>多层感知器</translation>
    </message>
    <message>
        <source>Multiplied by the decay per epoch, gradually at every iteration</source>
        <translation>每轮乘以衰减，逐次迭代渐变</translation>
    </message>
    <message>
        <source>Multiplied by the drop factor every drop period (torch: StepLR)</source>
        <translation>每个下降周期乘以下降因子 (torch: StepLR)</translation>
    </message>
    <message>
        <source>Multiplies by a learned complex matrix and adds a complex bias: y = W x + b.</source>
        <translation>乘以可学习的复数矩阵并加上复数偏置：y = W x + b。</translation>
    </message>
    <message>
        <source>Multiplies by a learned matrix and adds a bias: y = x Wᵀ + b.</source>
        <translation>乘以可学习的矩阵并加上偏置：y = x Wᵀ + b。</translation>
    </message>
    <message>
        <source>Multiplies each channel by a learned number, and adds another unless told not to. (LayerScale)</source>
        <translation>将每个通道乘以一个可学习的数，并（除非另有指定）再加上一个。(LayerScale)</translation>
    </message>
    <message>
        <source>Multiplies each number by one fixed number and adds another: scale · x + shift. Nothing is learned.</source>
        <translation>将每个数乘以一个固定的数再加上另一个：scale · x + shift。不学习任何内容。</translation>
    </message>
    <message>
        <source>Multiplies each pair of numbers of two inputs by learned weights and sums up: y = x1ᵀ W x2 + b.</source>
        <translation>将两个输入的每对数值乘以可学习的权重并求和：y = x1ᵀ W x2 + b。</translation>
    </message>
    <message>
        <source>Multiplies each pair of numbers: from n come all n (n + 1) / 2 products, squares included.</source>
        <translation>将每对数值相乘：由 n 个数得到全部 n (n + 1) / 2 个乘积，包括平方。</translation>
    </message>
    <message>
        <source>Multiplies its inputs, place by place. They have equal sizes, or 1 where the one number counts for all.</source>
        <translation>按元素相乘各输入。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Multiplies one or two inputs and sums over the letters that its equation leaves out. (einsum)</source>
        <translation>将一个或两个输入相乘，并对方程中省略的字母求和。(einsum)</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the bias</source>
        <translation>与训练选项的 L2 正则化相乘，作用于偏置</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the biases</source>
        <translation>与训练选项的 L2 正则化相乘，作用于各偏置</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the input projector</source>
        <translation>与训练选项的 L2 正则化相乘，作用于输入投影</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the input weights</source>
        <translation>与训练选项的 L2 正则化相乘，作用于输入权重</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the numbers</source>
        <translation>与训练选项的 L2 正则化相乘，作用于数值</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the output projector</source>
        <translation>与训练选项的 L2 正则化相乘，作用于输出投影</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the peepholes</source>
        <translation>与训练选项的 L2 正则化相乘，作用于窥视孔</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the recurrent weights</source>
        <translation>与训练选项的 L2 正则化相乘，作用于循环权重</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the scale</source>
        <translation>与训练选项的 L2 正则化相乘，作用于缩放</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the shift</source>
        <translation>与训练选项的 L2 正则化相乘，作用于偏移</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the slope</source>
        <translation>与训练选项的 L2 正则化相乘，作用于斜率</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the thresholds</source>
        <translation>与训练选项的 L2 正则化相乘，作用于阈值</translation>
    </message>
    <message>
        <source>Multiplies the L2 regularisation of the training options for the weights</source>
        <translation>与训练选项的 L2 正则化相乘，作用于权重</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the bias</source>
        <translation>与偏置的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the biases</source>
        <translation>与各偏置的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the input projector</source>
        <translation>与输入投影的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the input weights</source>
        <translation>与输入权重的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the numbers</source>
        <translation>与数值的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the output projector</source>
        <translation>与输出投影的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the peepholes</source>
        <translation>与窥视孔的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the recurrent weights</source>
        <translation>与循环权重的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the scale</source>
        <translation>与缩放的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the shift</source>
        <translation>与偏移的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the slope</source>
        <translation>与斜率的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the thresholds</source>
        <translation>与阈值的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies the learn rate for the weights</source>
        <translation>与权重的学习率相乘</translation>
    </message>
    <message>
        <source>Multiplies two inputs as matrices: the last two axes are rows and columns. (matmul)</source>
        <translation>将两个输入作为矩阵相乘：最后两个轴为行和列。(matmul)</translation>
    </message>
    <message>
        <source>Multiplies two vectors into one number: the sum of their products, over the channels unless told otherwise.</source>
        <translation>将两个向量相乘为一个数：乘积之和，除非另有指定，沿通道计算。</translation>
    </message>
    <message>
        <source>NARX forecaster</source>
        <translation>NARX 预测网络</translation>
    </message>
    <message>
        <source>NAdam</source>
        <translation>NAdam</translation>
    </message>
    <message>
        <source>Name by which projects refer to it</source>
        <translation>项目引用它时使用的名称</translation>
    </message>
    <message>
        <source>Name of the cluster profile</source>
        <translation>集群配置文件的名称</translation>
    </message>
    <message>
        <source>Name of the operator in ONNX, such as Erf</source>
        <translation>运算符在 ONNX 中的名称，例如 Erf</translation>
    </message>
    <message>
        <source>Name or folder of the environment on the hosts</source>
        <translation>主机上环境的名称或文件夹</translation>
    </message>
    <message>
        <source>Names</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Names by which subgraphs of the attributes take the last operands</source>
        <translation>属性的子图引用最后几个操作数所用的名称</translation>
    </message>
    <message>
        <source>Narrow normal</source>
        <translation>窄正态</translation>
    </message>
    <message>
        <source>Nearest</source>
        <translation>最近邻</translation>
    </message>
    <message>
        <source>Negate</source>
        <translation>取负</translation>
    </message>
    <message>
        <source>Nesterov</source>
        <translation>Nesterov</translation>
    </message>
    <message>
        <source>Nesterov momentum</source>
        <translation>Nesterov 动量</translation>
    </message>
    <message>
        <source>Network interface</source>
        <translation>网络接口</translation>
    </message>
    <message>
        <source>Network kept as the result</source>
        <translation>作为结果保留的网络</translation>
    </message>
    <message>
        <source>Network, data and loss in double precision</source>
        <translation>网络、数据和损失采用双精度</translation>
    </message>
    <message>
        <source>Network, options, curves and results of the run that is shown, as one HTML file</source>
        <translation>将所显示的运行的网络、选项、曲线和结果写入一个 HTML 文件</translation>
    </message>
    <message>
        <source>Netwright is installed in a folder of its own on the hosts</source>
        <translation>在主机上将 Netwright 安装到专用文件夹</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>New blank project</source>
        <translation>新建空白项目</translation>
    </message>
    <message>
        <source>New project…</source>
        <translation>新建项目…</translation>
    </message>
    <message>
        <source>One parameter per line: training.momentum=0.8,0.9 or training.initial_learn_rate=log 0.0001..0.1:5</source>
        <translation>每行一个参数：training.momentum=0.8,0.9 或 training.initial_learn_rate=log 0.0001..0.1:5</translation>
    </message>
    <message>
        <source>Add parameter…</source>
        <translation>添加参数…</translation>
    </message>
    <message>
        <source>Add parameter</source>
        <translation>添加参数</translation>
    </message>
    <message>
        <source>Type part of the name of an option, or of a layer</source>
        <translation>键入选项或层的部分名称</translation>
    </message>
    <message>
        <source>Show all that can vary</source>
        <translation>显示所有可变化的内容</translation>
    </message>
    <message>
        <source>Parameters as text</source>
        <translation>文本形式的参数</translation>
    </message>
    <message>
        <source>Edit as text</source>
        <translation>以文本编辑</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>选择起点</translation>
    </message>
    <message>
        <source>Compare architectures…</source>
        <translation>比较架构…</translation>
    </message>
    <message>
        <source>Definitions of sweeps to start from</source>
        <translation>可选作起点的扫描定义</translation>
    </message>
    <message>
        <source>New sweep</source>
        <translation>新建扫描</translation>
    </message>
    <message>
        <source>Close the definition</source>
        <translation>关闭定义</translation>
    </message>
    <message>
        <source>A copy of {title}</source>
        <translation>{title} 的副本</translation>
    </message>
    <message numerus="yes">
        <source>Run %n trial(s)</source>
        <translation>
            <numerusform>运行 %n 次试验</numerusform>
        </translation>
    </message>
    <message>
        <source>Run sweep</source>
        <translation>运行扫描</translation>
    </message>
    <message>
        <source>Nothing varies yet. Add a parameter, or repeats.</source>
        <translation>尚无变化的内容。请添加参数或重复次数。</translation>
    </message>
    <message>
        <source>{trials}, about {duration}</source>
        <translation>{trials}，约 {duration}</translation>
    </message>
    <message>
        <source>runs took {shortest} to {longest}</source>
        <translation>每次运行用时 {shortest} 到 {longest}</translation>
    </message>
    <message>
        <source>runs took {duration}</source>
        <translation>每次运行用时 {duration}</translation>
    </message>
    <message>
        <source>One at a time</source>
        <translation>每次一个</translation>
    </message>
    <message>
        <source>If one at a time</source>
        <translation>若每次一个</translation>
    </message>
    <message>
        <source>{count:,} at once</source>
        <translation>同时 {count:,} 个</translation>
    </message>
    <message>
        <source>Change {option} of the sweep</source>
        <translation>更改扫描的{option}</translation>
    </message>
    <message>
        <source>Change what varies</source>
        <translation>更改变化的内容</translation>
    </message>
    <message>
        <source>Edit a copy of {title}</source>
        <translation>编辑 {title} 的副本</translation>
    </message>
    <message>
        <source>Define a sweep</source>
        <translation>定义扫描</translation>
    </message>
    <message>
        <source>Projects (*.netwright)</source>
        <translation>工程 (*.netwright)</translation>
    </message>
    <message>
        <source>Compare architectures</source>
        <translation>比较架构</translation>
    </message>
    <message>
        <source>{path} varies already.</source>
        <translation>{path} 已在变化。</translation>
    </message>
    <message>
        <source>Edit as table</source>
        <translation>以表格编辑</translation>
    </message>
    <message>
        <source>Nothing varies yet</source>
        <translation>尚无变化的内容</translation>
    </message>
    <message>
        <source>Trials until it ends</source>
        <translation>试验持续到结束为止</translation>
    </message>
    <message>
        <source>At most {count} trials</source>
        <translation>最多 {count} 次试验</translation>
    </message>
    <message>
        <source>{trials}, {runs:,} runs each</source>
        <translation>{trials}，每次 {runs:,} 个运行</translation>
    </message>
    <message>
        <source>No</source>
        <translation>否</translation>
    </message>
    <message>
        <source>No average: the weights of the last step</source>
        <translation>不取平均：最后一步的权重</translation>
    </message>
    <message>
        <source>No checkpoints: an interrupted run starts again</source>
        <translation>没有检查点：中断的运行从头开始</translation>
    </message>
    <message>
        <source>No compression</source>
        <translation>不压缩</translation>
    </message>
    <message>
        <source>No data yet</source>
        <translation>尚无数据</translation>
    </message>
    <message>
        <source>No output of attention weights</source>
        <translation>不输出注意力权重</translation>
    </message>
    <message>
        <source>No shared steps</source>
        <translation>没有共享的时间步</translation>
    </message>
    <message>
        <source>No step is in windows of two splits</source>
        <translation>任何时间步都不在两个拆分的窗中</translation>
    </message>
    <message>
        <source>No target</source>
        <translation>没有目标</translation>
    </message>
    <message>
        <source>No window crosses a step that is longer than 1.5 times the usual one</source>
        <translation>任何窗都不跨越超过通常间隔 1.5 倍的时间步</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>Nodes that share the workers evenly</source>
        <translation>平均分担工作单元的节点</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>Blur</source>
        <translation>模糊</translation>
    </message>
    <message>
        <source>Measure shows how the answers hold under noise, blur and attacks.</source>
        <translation>“测量”显示在噪声、模糊和攻击下答案的稳定程度。</translation>
    </message>
    <message>
        <source>95 % of the validation samples lie above the threshold</source>
        <translation>95 % 的验证样本高于阈值</translation>
    </message>
    <message>
        <source>Scores by strength of {kinds}</source>
        <translation>随{kinds}强度变化的分数</translation>
    </message>
    <message>
        <source>% of the range</source>
        <translation>%（占取值范围）</translation>
    </message>
    <message>
        <source>{strength:g} px</source>
        <translation>{strength:g} 像素</translation>
    </message>
    <message>
        <source>Robustness</source>
        <translation>稳健性</translation>
    </message>
    <message>
        <source>Store threshold</source>
        <translation>存储阈值</translation>
    </message>
    <message>
        <source>Keep the threshold with the network: predictions then name samples below it</source>
        <translation>将阈值与网络一起保存：此后预测会指出低于阈值的样本</translation>
    </message>
    <message>
        <source>Measuring: attacks take some seconds…</source>
        <translation>正在测量：攻击需要几秒钟…</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>正在测量…</translation>
    </message>
    <message>
        <source>Attacks</source>
        <translation>攻击</translation>
    </message>
    <message>
        <source>Unlike the training data</source>
        <translation>与训练数据不同</translation>
    </message>
    <message numerus="yes">
        <source>{metric} on %n sample(s) of the {split}</source>
        <translation>
            <numerusform>{split}中 %n 个样本的{metric}</numerusform>
        </translation>
    </message>
    <message>
        <source>{text}, the threshold is stored</source>
        <translation>{text}，阈值已存储</translation>
    </message>
    <message>
        <source>{text}, as measured before</source>
        <translation>{text}，采用之前的测量结果</translation>
    </message>
    <message>
        <source>Largest probability</source>
        <translation>最大概率</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>能量</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>分数</translation>
    </message>
    <message>
        <source>Validation above</source>
        <translation>高于阈值的验证样本</translation>
    </message>
    <message>
        <source>Noise below</source>
        <translation>低于阈值的噪声</translation>
    </message>
    <message>
        <source>Noise of sequences</source>
        <translation>序列噪声</translation>
    </message>
    <message>
        <source>Non-finite loss</source>
        <translation>非有限损失</translation>
    </message>
    <message>
        <source>The run of the trial, with its curves (Return)</source>
        <translation>试验的运行及其曲线 (Return)</translation>
    </message>
    <message>
        <source>Use values</source>
        <translation>使用这些值</translation>
    </message>
    <message>
        <source>Put the values of the trial into the project; can be undone</source>
        <translation>将试验的值放入工程；可以撤销</translation>
    </message>
    <message>
        <source>Curves, results and options of the selected trials side by side</source>
        <translation>并排显示所选试验的曲线、结果和选项</translation>
    </message>
    <message>
        <source>Layer by layer: with the other trial, with the baseline, or with the project</source>
        <translation>逐层比较：与另一试验、与基线或与工程</translation>
    </message>
    <message>
        <source>Confusion matrix and ROC…</source>
        <translation>混淆矩阵和 ROC…</translation>
    </message>
    <message>
        <source>The scores of the run of the trial</source>
        <translation>试验的运行的分数</translation>
    </message>
    <message>
        <source>Pin as baseline</source>
        <translation>设为基线</translation>
    </message>
    <message>
        <source>Show the differences of all trials to this one</source>
        <translation>显示所有试验与此试验的差异</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <source>Leave these trials out of the table until they are asked for</source>
        <translation>在要求显示之前不在表中列出这些试验</translation>
    </message>
    <message>
        <source>Tags…</source>
        <translation>标签…</translation>
    </message>
    <message>
        <source>Tags of the selected trials, separated by commas</source>
        <translation>所选试验的标签，以逗号分隔</translation>
    </message>
    <message>
        <source>Note…</source>
        <translation>备注…</translation>
    </message>
    <message>
        <source>A note on the selected trials</source>
        <translation>所选试验的备注</translation>
    </message>
    <message>
        <source>Note on this cell…</source>
        <translation>此单元格的备注…</translation>
    </message>
    <message>
        <source>A note on this value</source>
        <translation>此值的备注</translation>
    </message>
    <message>
        <source>Stop trial</source>
        <translation>停止试验</translation>
    </message>
    <message>
        <source>Stop these trials and go on with the others</source>
        <translation>停止这些试验并继续其他试验</translation>
    </message>
    <message>
        <source>Train trials that have failed or were stopped again; their files are kept</source>
        <translation>重新训练失败或被停止的试验；保留其文件</translation>
    </message>
    <message>
        <source>The columns that are shown (Ctrl+C)</source>
        <translation>所显示的列 (Ctrl+C)</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Unpin baseline</source>
        <translation>取消基线</translation>
    </message>
    <message>
        <source>Stop trials</source>
        <translation>停止试验</translation>
    </message>
    <message>
        <source>Note on this cell ({label})…</source>
        <translation>此单元格（{label}）的备注…</translation>
    </message>
    <message>
        <source>The trials cannot be compared</source>
        <translation>无法比较这些试验</translation>
    </message>
    <message>
        <source>Reading the runs to compare: {count:,} so far…</source>
        <translation>正在读取要比较的运行：已读取 {count:,} 个…</translation>
    </message>
    <message>
        <source>Fewer than two of these trials have a run to compare.</source>
        <translation>这些试验中有可比较的运行的不足两个。</translation>
    </message>
    <message>
        <source>The networks cannot be compared</source>
        <translation>无法比较这些网络</translation>
    </message>
    <message>
        <source>The open project</source>
        <translation>打开的工程</translation>
    </message>
    <message>
        <source>The mark is not kept</source>
        <translation>未能保存标记</translation>
    </message>
    <message>
        <source>Colour of the rows</source>
        <translation>行的颜色</translation>
    </message>
    <message>
        <source>Tags of {trials}</source>
        <translation>标签：{trials}</translation>
    </message>
    <message>
        <source>Separated by commas:</source>
        <translation>以逗号分隔：</translation>
    </message>
    <message>
        <source>Note on {trials}</source>
        <translation>备注：{trials}</translation>
    </message>
    <message>
        <source>Note on {column} of trial {number}</source>
        <translation>试验 {number} 的{column}的备注</translation>
    </message>
    <message>
        <source>Up to {count:,} characters:</source>
        <translation>最多 {count:,} 个字符：</translation>
    </message>
    <message>
        <source>Stopping {trials}. The experiment goes on with the others.</source>
        <translation>正在停止：{trials}。实验继续进行其他试验。</translation>
    </message>
    <message>
        <source>The experiment cannot be asked</source>
        <translation>无法向实验发出请求</translation>
    </message>
    <message>
        <source>The experiment cannot begin</source>
        <translation>实验无法开始</translation>
    </message>
    <message>
        <source>None: an earlier layer encodes positions, or order does not matter</source>
        <translation>无：前面的层编码位置，或顺序无关紧要</translation>
    </message>
    <message>
        <source>Norm</source>
        <translation>范数</translation>
    </message>
    <message>
        <source>Norm of a step over all weights at which the run ends</source>
        <translation>全部权重的步长范数低于此值时运行结束</translation>
    </message>
    <message>
        <source>Norm of each parameter&apos;s gradient</source>
        <translation>每个参数的梯度范数</translation>
    </message>
    <message>
        <source>Norm over all gradients (torch&apos;s clip_grad_norm_)</source>
        <translation>所有梯度的范数（torch 的 clip_grad_norm_）</translation>
    </message>
    <message>
        <source>Norm that the threshold limits</source>
        <translation>阈值所限制的范数</translation>
    </message>
    <message>
        <source>Normal parts, with variance 2 / inputs of the complex number</source>
        <translation>两部分为正态分布，复数的方差为 2 / 输入数</translation>
    </message>
    <message>
        <source>Normal with a standard deviation of 0.01</source>
        <translation>标准差为 0.01 的正态分布</translation>
    </message>
    <message>
        <source>Normal with variance 2 / inputs, for weights before a ReLU</source>
        <translation>方差为 2 / 输入数的正态分布，用于 ReLU 之前的权重</translation>
    </message>
    <message>
        <source>Normalisation</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>Normalisation to invert</source>
        <translation>要逆转的归一化</translation>
    </message>
    <message>
        <source>Normalise targets</source>
        <translation>归一化目标</translation>
    </message>
    <message>
        <source>Normalised per</source>
        <translation>归一化范围</translation>
    </message>
    <message>
        <source>Normalises each channel of each sample over all positions.</source>
        <translation>将每个样本的每个通道在所有位置上归一化。</translation>
    </message>
    <message>
        <source>Normalises each channel over the batch and all positions.</source>
        <translation>将每个通道在批量和所有位置上归一化。</translation>
    </message>
    <message>
        <source>Normalises each sample by itself, over its channels or over everything.</source>
        <translation>将每个样本单独归一化，沿其通道或沿全部数值。</translation>
    </message>
    <message>
        <source>Normalises each sample over groups of its channels and all positions.</source>
        <translation>将每个样本按通道分组，在所有位置上归一化。</translation>
    </message>
    <message>
        <source>Not at all: the mean of the positions inside the input</source>
        <translation>不计入：输入内部各位置的均值</translation>
    </message>
    <message>
        <source>Not compiled</source>
        <translation>不编译</translation>
    </message>
    <message>
        <source>Notify when a run ends</source>
        <translation>运行结束时通知</translation>
    </message>
    <message>
        <source>Number added to the denominator of the update</source>
        <translation>加到更新分母上的数</translation>
    </message>
    <message>
        <source>Number format and sizes of each input, without the batch, such as float32 C=3 H=32 W=32</source>
        <translation>每个输入的数值格式和大小，不含批量，例如 float32 C=3 H=32 W=32</translation>
    </message>
    <message>
        <source>Number format and sizes of each result, or - for a result that nothing uses</source>
        <translation>每个结果的数值格式和大小，无处使用的结果为 -</translation>
    </message>
    <message>
        <source>Number format of the computations</source>
        <translation>计算的数值格式</translation>
    </message>
    <message>
        <source>Number of attention heads, among which the channels are divided</source>
        <translation>注意力头数，通道在各头之间划分</translation>
    </message>
    <message>
        <source>Number of bands from 0 Hz to half the sample rate</source>
        <translation>从 0 Hz 到采样率一半的频带数</translation>
    </message>
    <message>
        <source>Number of channels between the two layers of the feedforward network</source>
        <translation>前馈网络两层之间的通道数</translation>
    </message>
    <message>
        <source>Number of channels in the window around each channel, itself included</source>
        <translation>每个通道周围窗内的通道数，含其自身</translation>
    </message>
    <message>
        <source>Number of channels per head</source>
        <translation>每个头的通道数</translation>
    </message>
    <message>
        <source>Number of checkpoints kept</source>
        <translation>保留的检查点数</translation>
    </message>
    <message>
        <source>Number of complex outputs</source>
        <translation>复数输出数</translation>
    </message>
    <message>
        <source>Number of copies in sequence, each with its own weights</source>
        <translation>依次排列的副本数，各有自己的权重</translation>
    </message>
    <message>
        <source>Number of decoder layers</source>
        <translation>解码器层数</translation>
    </message>
    <message>
        <source>Number of decomposition levels</source>
        <translation>分解级数</translation>
    </message>
    <message>
        <source>Number of different indices, which count from 0</source>
        <translation>不同索引的数量，从 0 开始计数</translation>
    </message>
    <message>
        <source>Number of different tokens, at most</source>
        <translation>不同词元的最大数量</translation>
    </message>
    <message>
        <source>Number of encoder layers</source>
        <translation>编码器层数</translation>
    </message>
    <message>
        <source>Number of equal groups of channels</source>
        <translation>均等的通道组数</translation>
    </message>
    <message>
        <source>Number of equal groups of input channels</source>
        <translation>均等的输入通道组数</translation>
    </message>
    <message>
        <source>Number of equal steps from start to end</source>
        <translation>从开始到结束的等步数</translation>
    </message>
    <message>
        <source>Number of filters per group</source>
        <translation>每组的滤波器数</translation>
    </message>
    <message>
        <source>Number of filters, each of which computes one output channel</source>
        <translation>滤波器数，每个计算一个输出通道</translation>
    </message>
    <message>
        <source>Number of frequencies kept along each axis, from zero up</source>
        <translation>沿每个轴从零起保留的频率数</translation>
    </message>
    <message>
        <source>Number of groups of heads that share keys and values</source>
        <translation>共享键和值的头组数</translation>
    </message>
    <message>
        <source>Number of input ports</source>
        <translation>输入端口数</translation>
    </message>
    <message>
        <source>Number of input tensors</source>
        <translation>输入张量数</translation>
    </message>
    <message>
        <source>Number of likeliest classes that may include the right one</source>
        <translation>可包含正确类别的最可能类别数</translation>
    </message>
    <message>
        <source>Number of micro-batches in flight</source>
        <translation>同时处理的微批量数</translation>
    </message>
    <message>
        <source>Number of micro-batches per mini-batch</source>
        <translation>每个小批量的微批量数</translation>
    </message>
    <message>
        <source>Number of octaves from the shortest to the longest wavelet</source>
        <translation>从最短到最长小波的倍频程数</translation>
    </message>
    <message>
        <source>Number of output channels</source>
        <translation>输出通道数</translation>
    </message>
    <message>
        <source>Number of output tensors</source>
        <translation>输出张量数</translation>
    </message>
    <message>
        <source>Number of outputs</source>
        <translation>输出数</translation>
    </message>
    <message>
        <source>Number of parts of the cross-validation, 2 to 1,000</source>
        <translation>交叉验证的份数，2 到 1,000</translation>
    </message>
    <message>
        <source>Number of parts, and of output ports</source>
        <translation>部分数，即输出端口数</translation>
    </message>
    <message>
        <source>Number of past steps used to estimate the curvature</source>
        <translation>用于估计曲率的过去步数</translation>
    </message>
    <message>
        <source>Number of positions</source>
        <translation>位置数</translation>
    </message>
    <message>
        <source>Number of positions that have a vector, which is the maximum sequence length</source>
        <translation>具有向量的位置数，即最大序列长度</translation>
    </message>
    <message>
        <source>Number of query and key channels over all heads</source>
        <translation>所有头合计的查询和键的通道数</translation>
    </message>
    <message>
        <source>Number of repetitions</source>
        <translation>重复次数</translation>
    </message>
    <message>
        <source>Number of samples of the validation data that the ranges of activations are measured on</source>
        <translation>用于测量激活值范围的验证数据样本数</translation>
    </message>
    <message>
        <source>Number of samples per call, for runtimes that need a fixed one</source>
        <translation>每次调用的样本数，用于需要固定值的运行时</translation>
    </message>
    <message>
        <source>Number of shards whose samples are shuffled together, so that a training reads few shards at a time</source>
        <translation>样本一起打乱的分片数，使训练一次只读取少数分片</translation>
    </message>
    <message>
        <source>Number of slices of the volume</source>
        <translation>体数据的切片数</translation>
    </message>
    <message>
        <source>Number of stacked layers, each of which reads the output of the one below</source>
        <translation>堆叠的层数，每层读取下一层的输出</translation>
    </message>
    <message>
        <source>Number of steps</source>
        <translation>时间步数</translation>
    </message>
    <message>
        <source>Number of steps of inputs that are sequences of any length</source>
        <translation>任意长度序列输入的时间步数</translation>
    </message>
    <message>
        <source>Number of steps per window</source>
        <translation>每个窗的时间步数</translation>
    </message>
    <message>
        <source>Number of steps that a window shares with the next one</source>
        <translation>一个窗与下一个窗共有的时间步数</translation>
    </message>
    <message>
        <source>Number of the step, counted from that end</source>
        <translation>从该端起计数的时间步编号</translation>
    </message>
    <message>
        <source>Number of trials</source>
        <translation>试验次数</translation>
    </message>
    <message>
        <source>Number of value channels over all heads</source>
        <translation>所有头合计的值通道数</translation>
    </message>
    <message>
        <source>Number of values per sample</source>
        <translation>每个样本的值数</translation>
    </message>
    <message>
        <source>Number of values per step</source>
        <translation>每个时间步的值数</translation>
    </message>
    <message>
        <source>Number of values per voxel</source>
        <translation>每个体素的值数</translation>
    </message>
    <message>
        <source>Number of wavelets per octave</source>
        <translation>每倍频程的小波数</translation>
    </message>
    <message>
        <source>Number of workers</source>
        <translation>工作单元数</translation>
    </message>
    <message>
        <source>Number of workers with which a run on a cluster starts or goes on where it has no room for all</source>
        <translation>集群上的运行在容纳不下全部工作单元时，开始或继续所需的工作单元数</translation>
    </message>
    <message>
        <source>Number of workers, which share each batch</source>
        <translation>工作单元数，每个批量由它们分担</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Numbers of the GPUs to use</source>
        <translation>要使用的 GPU 编号</translation>
    </message>
    <message>
        <source>Numbers of the file</source>
        <translation>文件的数值格式</translation>
    </message>
    <message>
        <source>Numbers that columns of dates become, such as 2024-01-31, 31.01.2024, 2024-01 or 31-Jan-2024 23:59</source>
        <translation>日期列（例如 2024-01-31、31.01.2024、2024-01 或 31-Jan-2024 23:59）变成的数值</translation>
    </message>
    <message>
        <source>Numbers that share a shift and a scale</source>
        <translation>共用偏移和缩放的数值</translation>
    </message>
    <message>
        <source>Objective metric</source>
        <translation>目标度量</translation>
    </message>
    <message>
        <source>Objectives</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Occlusion</source>
        <translation>遮挡</translation>
    </message>
    <message>
        <source>Octaves</source>
        <translation>倍频程</translation>
    </message>
    <message>
        <source>Of each group of trials the better part goes on (ASHA)</source>
        <translation>每组试验中较好的部分继续进行 (ASHA)</translation>
    </message>
    <message>
        <source>Of each label, or of two classes by one output</source>
        <translation>针对每个标签，或由一个输出区分的两个类别</translation>
    </message>
    <message>
        <source>On a node of Ray</source>
        <translation>在 Ray 的节点上</translation>
    </message>
    <message>
        <source>On the desktop, while another window is active</source>
        <translation>当其他窗口处于活动状态时，在桌面上通知</translation>
    </message>
    <message>
        <source>On this machine, which must stay on</source>
        <translation>在本机上，本机必须保持开机</translation>
    </message>
    <message>
        <source>Once</source>
        <translation>一次</translation>
    </message>
    <message>
        <source>One GPU</source>
        <translation>一个 GPU</translation>
    </message>
    <message>
        <source>One channel, the mean of all</source>
        <translation>一个通道，为所有通道的均值</translation>
    </message>
    <message>
        <source>One class per sample, step, pixel or voxel</source>
        <translation>每个样本、时间步、像素或体素一个类别</translation>
    </message>
    <message>
        <source>One cycle</source>
        <translation>单周期</translation>
    </message>
    <message>
        <source>One cycle end divisor</source>
        <translation>单周期终止除数</translation>
    </message>
    <message>
        <source>One cycle rise</source>
        <translation>单周期上升比例</translation>
    </message>
    <message>
        <source>One cycle start divisor</source>
        <translation>单周期起始除数</translation>
    </message>
    <message>
        <source>One for all numbers</source>
        <translation>所有数值共用一个</translation>
    </message>
    <message>
        <source>One for the forget gate, zero for the others: the layer remembers at first</source>
        <translation>遗忘门为一，其余为零：该层开始时会记忆</translation>
    </message>
    <message>
        <source>One layer of a transformer&apos;s decoder: self-attention, attention to a memory, then a feedforward network.</source>
        <translation>变换器解码器的一层：自注意力、对记忆的注意力，然后是前馈网络。</translation>
    </message>
    <message>
        <source>One layer of a transformer&apos;s encoder: self-attention, then a feedforward network on each step.</source>
        <translation>变换器编码器的一层：自注意力，然后对每个时间步应用前馈网络。</translation>
    </message>
    <message>
        <source>One number of 0 or 1 per category, with the numbers in one vector</source>
        <translation>每个类别一个 0 或 1，与数值同在一个向量中</translation>
    </message>
    <message>
        <source>One per number of the input, such as each pixel</source>
        <translation>输入的每个数（例如每个像素）一个</translation>
    </message>
    <message>
        <source>One process on the CPU</source>
        <translation>CPU 上的一个进程</translation>
    </message>
    <message>
        <source>One response for the whole sequence</source>
        <translation>整个序列一个响应</translation>
    </message>
    <message>
        <source>One response per sequence where it is the same in all its rows, else one per step</source>
        <translation>所有行的响应都相同时每个序列一个，否则每个时间步一个</translation>
    </message>
    <message>
        <source>One sample at a time</source>
        <translation>一次一个样本</translation>
    </message>
    <message>
        <source>One shift and scale per channel</source>
        <translation>每个通道一个偏移和缩放</translation>
    </message>
    <message>
        <source>One value everywhere</source>
        <translation>各处为同一个值</translation>
    </message>
    <message>
        <source>One whole number per step, for an embedding</source>
        <translation>每个时间步一个整数，用于嵌入</translation>
    </message>
    <message>
        <source>One-hot</source>
        <translation>独热编码</translation>
    </message>
    <message>
        <source>Ones</source>
        <translation>一</translation>
    </message>
    <message>
        <source>Open a file as data…</source>
        <translation>打开文件作为数据…</translation>
    </message>
    <message>
        <source>Open a folder as data…</source>
        <translation>打开文件夹作为数据…</translation>
    </message>
    <message>
        <source>Open a run…</source>
        <translation>打开运行…</translation>
    </message>
    <message>
        <source>Operands</source>
        <translation>操作数</translation>
    </message>
    <message>
        <source>Operands in order: a port, a constant, or -</source>
        <translation>按顺序的操作数：端口、常量或 -</translation>
    </message>
    <message>
        <source>Reach the cluster</source>
        <translation>连接集群</translation>
    </message>
    <message>
        <source>Run one task</source>
        <translation>运行一个任务</translation>
    </message>
    <message>
        <source>Start a run in a process of its own</source>
        <translation>在单独的进程中开始运行</translation>
    </message>
    <message>
        <source>Start all workers</source>
        <translation>启动所有工作单元</translation>
    </message>
    <message>
        <source>Start from weights, with a new head for the data, frozen layers and lower rates</source>
        <translation>从权重开始，为数据换上新的输出头，冻结部分层并降低学习率</translation>
    </message>
    <message>
        <source>Stop after this epoch</source>
        <translation>本轮之后停止</translation>
    </message>
    <message>
        <source>Sum over all workers</source>
        <translation>对所有工作单元求和</translation>
    </message>
    <message>
        <source>Write to the storage</source>
        <translation>写入存储</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>保持原样</translation>
    </message>
    <message>
        <source>as the length</source>
        <translation>与长度相同</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <comment>metric</comment>
        <translation>准确度</translation>
    </message>
    <message>
        <source>Top-k accuracy</source>
        <comment>metric</comment>
        <translation>前 k 准确度</translation>
    </message>
    <message>
        <source>F-score</source>
        <comment>metric</comment>
        <translation>F 分数</translation>
    </message>
    <message>
        <source>AUC</source>
        <comment>metric</comment>
        <translation>AUC</translation>
    </message>
    <message>
        <source>RMSE</source>
        <comment>metric</comment>
        <translation>RMSE</translation>
    </message>
    <message>
        <source>MAE</source>
        <comment>metric</comment>
        <translation>MAE</translation>
    </message>
    <message>
        <source>MAPE</source>
        <comment>metric</comment>
        <translation>MAPE</translation>
    </message>
    <message>
        <source>R²</source>
        <comment>metric</comment>
        <translation>R²</translation>
    </message>
    <message>
        <source>Custom metric</source>
        <comment>metric</comment>
        <translation>自定义度量</translation>
    </message>
    <message>
        <source>Operator</source>
        <translation>运算符</translation>
    </message>
    <message>
        <source>Operators</source>
        <translation>运算符</translation>
    </message>
    <message>
        <source>Opset</source>
        <translation>运算符集</translation>
    </message>
    <message>
        <source>Opset version</source>
        <translation>运算符集版本</translation>
    </message>
    <message>
        <source>Optimization algorithm</source>
        <translation>优化算法</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>阶次</translation>
    </message>
    <message>
        <source>Order in dates</source>
        <translation>日期中的顺序</translation>
    </message>
    <message>
        <source>Order of the axes of arrays in MATLAB files</source>
        <translation>MATLAB 文件中数组的轴顺序</translation>
    </message>
    <message>
        <source>Order of the channels</source>
        <translation>通道的顺序</translation>
    </message>
    <message>
        <source>Order of the repetitions</source>
        <translation>重复的顺序</translation>
    </message>
    <message>
        <source>Orthogonal</source>
        <translation>正交</translation>
    </message>
    <message>
        <source>Orthogonal rows or columns, from the QR decomposition of a normal random matrix</source>
        <translation>行或列正交，由正态随机矩阵的 QR 分解得到</translation>
    </message>
    <message>
        <source>Output for each coefficient W[s, t]</source>
        <translation>每个系数 W[s, t] 的输出</translation>
    </message>
    <message>
        <source>Output for each coefficient X[m, k]</source>
        <translation>每个系数 X[m, k] 的输出</translation>
    </message>
    <message>
        <source>Output for each complex number</source>
        <translation>每个复数的输出</translation>
    </message>
    <message>
        <source>Output for the other values</source>
        <translation>其他值的输出</translation>
    </message>
    <message>
        <source>Output losses</source>
        <translation>各输出的损失</translation>
    </message>
    <message>
        <source>Output mode</source>
        <translation>输出模式</translation>
    </message>
    <message>
        <source>Output network</source>
        <translation>输出网络</translation>
    </message>
    <message>
        <source>Output of the layer</source>
        <translation>该层的输出</translation>
    </message>
    <message>
        <source>Output padding</source>
        <translation>输出填充</translation>
    </message>
    <message>
        <source>Output projector</source>
        <translation>输出投影</translation>
    </message>
    <message>
        <source>Output projector L2 factor</source>
        <translation>输出投影 L2 因子</translation>
    </message>
    <message>
        <source>Output projector initialiser</source>
        <translation>输出投影初始化函数</translation>
    </message>
    <message>
        <source>Output projector rate factor</source>
        <translation>输出投影学习率因子</translation>
    </message>
    <message>
        <source>Output size</source>
        <translation>输出大小</translation>
    </message>
    <message>
        <source>Output size along each axis, for any size of the input</source>
        <translation>沿每个轴的输出大小，适用于任意输入大小</translation>
    </message>
    <message>
        <source>Outputs</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Outputs are probabilities</source>
        <translation>输出为概率</translation>
    </message>
    <message>
        <source>Outputs are scores, before softmax or sigmoid</source>
        <translation>输出为 softmax 或 sigmoid 之前的分数</translation>
    </message>
    <message>
        <source>Outputs the vectors without adding them to the input, as MATLAB does</source>
        <translation>输出向量而不将其加到输入上，与 MATLAB 相同</translation>
    </message>
    <message>
        <source>Outside</source>
        <translation>外部</translation>
    </message>
    <message>
        <source>Over</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>Over all decisions</source>
        <translation>针对所有判断</translation>
    </message>
    <message>
        <source>Overlap</source>
        <translation>重叠</translation>
    </message>
    <message>
        <source>Overlap of all classes, weighted by 1 / size²</source>
        <translation>所有类别的重叠，按 1 / 大小² 加权</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>Padding direction</source>
        <translation>填充方向</translation>
    </message>
    <message>
        <source>Padding index</source>
        <translation>填充索引</translation>
    </message>
    <message>
        <source>Padding mode</source>
        <translation>填充模式</translation>
    </message>
    <message>
        <source>Padding of random crops</source>
        <translation>随机裁剪的填充</translation>
    </message>
    <message>
        <source>Padding on both sides of each axis, or same: the output is as large as the input divided by the stride</source>
        <translation>每个轴两侧的填充，或 same：输出大小为输入除以步幅</translation>
    </message>
    <message>
        <source>Padding value</source>
        <translation>填充值</translation>
    </message>
    <message>
        <source>Parallel</source>
        <translation>并行</translation>
    </message>
    <message>
        <source>Part of the class</source>
        <translation>类别的一部分</translation>
    </message>
    <message>
        <source>Part that validates in this run, 1 to the number of folds</source>
        <translation>在本次运行中用于验证的份，1 到折数</translation>
    </message>
    <message>
        <source>Partial dependence</source>
        <translation>部分依赖</translation>
    </message>
    <message>
        <source>Partition</source>
        <translation>分区</translation>
    </message>
    <message>
        <source>Partition for the job</source>
        <translation>作业的分区</translation>
    </message>
    <message>
        <source>Parts</source>
        <translation>部分</translation>
    </message>
    <message>
        <source>Parts and days</source>
        <translation>各部分与天数</translation>
    </message>
    <message>
        <source>Parts of Netwright that speed up training without changing its numbers</source>
        <translation>Netwright 中加快训练而不改变其数值的部分</translation>
    </message>
    <message>
        <source>Parts of the date</source>
        <translation>日期的各部分</translation>
    </message>
    <message>
        <source>Passes complex numbers of which neither part is negative, zero otherwise.</source>
        <translation>实部和虚部都不为负的复数原样通过，否则为零。</translation>
    </message>
    <message>
        <source>Passes its input on unchanged, such as to give an output of the network a name.</source>
        <translation>将输入原样传递，例如用于为网络的输出命名。</translation>
    </message>
    <message>
        <source>Passes its input on, but no gradient back: what is before it does not learn from what is behind it. (detach)</source>
        <translation>传递输入，但不回传梯度：其前面的层不从其后面的层学习。(detach)</translation>
    </message>
    <message>
        <source>Passes over the training data</source>
        <translation>遍历训练数据的次数</translation>
    </message>
    <message>
        <source>Passes what is above a threshold, and puts one value in the place of all else: x, or value.</source>
        <translation>高于阈值的数原样通过，其余以一个值代替：x 或 value。</translation>
    </message>
    <message>
        <source>Passes what is positive, and a small share of what is negative: x, or scale · x below zero.</source>
        <translation>正数原样通过，负数仅通过一小部分：x，零以下为 scale · x。</translation>
    </message>
    <message>
        <source>Passes what is positive, and bends softly towards -alpha below: alpha (exp(x) - 1).</source>
        <translation>正数原样通过，零以下平缓趋向 -alpha：alpha (exp(x) - 1)。</translation>
    </message>
    <message>
        <source>Passes what is positive, zero otherwise: max(0, x).</source>
        <translation>正数原样通过，否则为零：max(0, x)。</translation>
    </message>
    <message>
        <source>Patch size</source>
        <translation>图像块大小</translation>
    </message>
    <message>
        <source>Path</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>Path of the Python file with the code, relative to the project&apos;s folder</source>
        <translation>包含代码的 Python 文件的路径，相对于工程文件夹</translation>
    </message>
    <message>
        <source>Paths</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>Pause the run where it is, without using the processor (⋯ frees its memory as well)</source>
        <translation>在当前位置暂停运行，不占用处理器（⋯ 还可释放其内存）</translation>
    </message>
    <message>
        <source>Peephole L2 factor</source>
        <translation>窥视孔 L2 因子</translation>
    </message>
    <message>
        <source>Peephole initialiser</source>
        <translation>窥视孔初始化函数</translation>
    </message>
    <message>
        <source>Peephole rate factor</source>
        <translation>窥视孔学习率因子</translation>
    </message>
    <message>
        <source>Per channel</source>
        <translation>逐通道</translation>
    </message>
    <message>
        <source>Period of the series, for the seasonal baseline that the result is compared with, such as 24 for hours of a day</source>
        <translation>序列的周期，用于与结果比较的季节性基线，例如一天的小时数为 24</translation>
    </message>
    <message>
        <source>Permutation importance</source>
        <translation>置换重要性</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>相位</translation>
    </message>
    <message>
        <source>Pictures, sounds or texts in folders by class</source>
        <translation>按类别放在文件夹中的图片、声音或文本</translation>
    </message>
    <message>
        <source>Pieces of words</source>
        <translation>词片段</translation>
    </message>
    <message>
        <source>Pieces of words (byte-pair encoding), trained on the training split</source>
        <translation>词片段（字节对编码），在训练部分上训练</translation>
    </message>
    <message>
        <source>Piecewise</source>
        <translation>分段</translation>
    </message>
    <message>
        <source>Pins each worker to its own cores</source>
        <translation>将每个工作单元固定到其自己的核</translation>
    </message>
    <message>
        <source>Pipeline pieces</source>
        <translation>流水线分段数</translation>
    </message>
    <message>
        <source>Pipeline stage per layer: conv_2: 2, fc: 3</source>
        <translation>每层的流水线阶段：conv_2: 2, fc: 3</translation>
    </message>
    <message>
        <source>Pipeline stages</source>
        <translation>流水线阶段</translation>
    </message>
    <message>
        <source>Pixels added above, below, left and right</source>
        <translation>在上下左右添加的像素数</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Place of a stored temperature, which calibrates probabilities</source>
        <translation>已存储的温度的位置，该温度用于校准概率</translation>
    </message>
    <message>
        <source>Place of the input normalisation</source>
        <translation>输入归一化的位置</translation>
    </message>
    <message>
        <source>Place of the softmax or sigmoid at outputs that are classes or labels</source>
        <translation>类别或标签输出处 softmax 或 sigmoid 的位置</translation>
    </message>
    <message>
        <source>Place of the weights</source>
        <translation>权重的位置</translation>
    </message>
    <message>
        <source>Placement trials</source>
        <translation>放置试验</translation>
    </message>
    <message>
        <source>Places</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Plateau</source>
        <translation>平台期</translation>
    </message>
    <message>
        <source>Plateau patience</source>
        <translation>平台期耐心值</translation>
    </message>
    <message>
        <source>Plateau threshold</source>
        <translation>平台期阈值</translation>
    </message>
    <message>
        <source>Plots the norm of all gradients at every step</source>
        <translation>在每一步绘制所有梯度的范数</translation>
    </message>
    <message>
        <source>Point</source>
        <translation>句点</translation>
    </message>
    <message>
        <source>Polynomial</source>
        <translation>多项式</translation>
    </message>
    <message>
        <source>Polynomial power</source>
        <translation>多项式幂次</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>池化</translation>
    </message>
    <message>
        <source>Population</source>
        <translation>总体</translation>
    </message>
    <message>
        <source>Ports whose inputs get a gradient</source>
        <translation>其输入得到梯度的端口</translation>
    </message>
    <message>
        <source>Position</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Position after the last one</source>
        <translation>最后一个位置之后的位置</translation>
    </message>
    <message>
        <source>Position encoding</source>
        <translation>位置编码</translation>
    </message>
    <message>
        <source>Position of the normalisation</source>
        <translation>归一化的位置</translation>
    </message>
    <message>
        <source>Position of the part</source>
        <translation>该部分的位置</translation>
    </message>
    <message>
        <source>Positions</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Positions are the centres of cells at 0.5, 1.5, ...</source>
        <translation>位置为单元格中心 0.5、1.5……</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>幂</translation>
    </message>
    <message>
        <source>Power demand</source>
        <translation>用电需求</translation>
    </message>
    <message>
        <source>Power in bands of the mel scale, in decibels</source>
        <translation>梅尔刻度各频带的功率，以分贝计</translation>
    </message>
    <message>
        <source>Power per frequency, in decibels</source>
        <translation>每个频率的功率，以分贝计</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Precision and memory</source>
        <translation>精度和内存</translation>
    </message>
    <message>
        <source>Precision on the validation split</source>
        <translation>验证部分的精确率</translation>
    </message>
    <message>
        <source>Choose a run that has ended, or an ONNX file: what the network says to your samples is shown here.</source>
        <translation>请选择已结束的运行或 ONNX 文件：此处显示网络对您的样本的答案。</translation>
    </message>
    <message>
        <source>Loading the network…</source>
        <translation>正在加载网络…</translation>
    </message>
    <message>
        <source>Predicting…</source>
        <translation>正在预测…</translation>
    </message>
    <message>
        <source>Draw, type, paste or drop a sample: what the network says to it is shown here.</source>
        <translation>绘制、键入、粘贴或拖放一个样本：此处显示网络对它的答案。</translation>
    </message>
    <message>
        <source>Choose, paste or drop files: what the network says to them is shown here.</source>
        <translation>选择、粘贴或拖放文件：此处显示网络对它们的答案。</translation>
    </message>
    <message>
        <source>Predict</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>ONNX file…</source>
        <translation>ONNX 文件…</translation>
    </message>
    <message>
        <source>Use the run</source>
        <translation>使用运行</translation>
    </message>
    <message>
        <source>Predict with an ONNX file, of Netwright or from elsewhere</source>
        <translation>用 ONNX 文件预测，来自 Netwright 或其他来源</translation>
    </message>
    <message>
        <source>Predict with an ONNX file</source>
        <translation>用 ONNX 文件预测</translation>
    </message>
    <message>
        <source>ONNX (*.onnx)</source>
        <translation>ONNX (*.onnx)</translation>
    </message>
    <message>
        <source>Assumed, since the file does not say: {assumed}</source>
        <translation>文件未说明，因此假定：{assumed}</translation>
    </message>
    <message>
        <source>Answered in {time:.0f} ms</source>
        <translation>在 {time:.0f} 毫秒内得出答案</translation>
    </message>
    <message>
        <source>Predict the files of a folder</source>
        <translation>预测文件夹中的文件</translation>
    </message>
    <message>
        <source>Predict files</source>
        <translation>预测文件</translation>
    </message>
    <message>
        <source>There is nothing on the clipboard that the network takes. {hint}</source>
        <translation>剪贴板上没有网络可接收的内容。{hint}</translation>
    </message>
    <message>
        <source>Predict…</source>
        <translation>预测…</translation>
    </message>
    <message>
        <source>Preferences…</source>
        <translation>首选项…</translation>
    </message>
    <message>
        <source>Print preview…</source>
        <translation>打印预览…</translation>
    </message>
    <message>
        <source>Print…</source>
        <translation>打印…</translation>
    </message>
    <message>
        <source>Probabilities</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Series</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>Probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Probability of mirroring left to right, 0 to 1</source>
        <translation>左右镜像的概率，0 到 1</translation>
    </message>
    <message>
        <source>Probability of mirroring top to bottom, 0 to 1</source>
        <translation>上下镜像的概率，0 到 1</translation>
    </message>
    <message>
        <source>Probability that a channel of a sample is dropped</source>
        <translation>样本的一个通道被丢弃的概率</translation>
    </message>
    <message>
        <source>Probability that a channel of a sample is set to zero</source>
        <translation>样本的一个通道被置零的概率</translation>
    </message>
    <message>
        <source>Probability that a rectangle is erased, 0 to 1</source>
        <translation>擦除一个矩形的概率，0 到 1</translation>
    </message>
    <message>
        <source>Probability that a sample is set to zero</source>
        <translation>样本被置零的概率</translation>
    </message>
    <message>
        <source>Probability that a value is dropped</source>
        <translation>值被丢弃的概率</translation>
    </message>
    <message>
        <source>Probability that a value is set to zero</source>
        <translation>值被置零的概率</translation>
    </message>
    <message>
        <source>Probability that a value is set to zero during training, after each part and inside it</source>
        <translation>训练期间值被置零的概率，在每个部分之后及其内部</translation>
    </message>
    <message>
        <source>Probability that an attention weight is set to zero during training</source>
        <translation>训练期间注意力权重被置零的概率</translation>
    </message>
    <message>
        <source>Processes</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Processes that share each batch</source>
        <translation>共同处理每个批量的进程</translation>
    </message>
    <message>
        <source>Profiles of clusters: Slurm, hosts over ssh, Ray; try one in stages</source>
        <translation>集群配置文件：Slurm、通过 ssh 访问的主机、Ray；可分阶段试用</translation>
    </message>
    <message>
        <source>Program that starts the workers</source>
        <translation>启动工作单元的程序</translation>
    </message>
    <message>
        <source>Prune from epoch</source>
        <translation>从该轮起剪枝</translation>
    </message>
    <message>
        <source>Prune…</source>
        <translation>剪枝…</translation>
    </message>
    <message>
        <source>Put the selected layers into a block, which can be repeated and opened</source>
        <translation>将所选的层放入一个可重复、可打开的模块</translation>
    </message>
    <message>
        <source>Puts a border around a volume: zeros, a constant, a reflection, a replication or circular.</source>
        <translation>在体数据周围添加边界：零、常量、反射、复制或循环。</translation>
    </message>
    <message>
        <source>Puts a border around an image: zeros, a constant, a reflection, a replication or circular.</source>
        <translation>在图像周围添加边界：零、常量、反射、复制或循环。</translation>
    </message>
    <message>
        <source>Puts a learned vector before the first step, to gather what the whole sequence says.</source>
        <translation>在第一个时间步之前放置一个可学习的向量，用以汇集整个序列的信息。</translation>
    </message>
    <message>
        <source>Puts each number back to the place in an image that max pooling took it from; the other places are zero.</source>
        <translation>将每个数放回最大池化取出它时在图像中的位置；其他位置为零。</translation>
    </message>
    <message>
        <source>Puts its inputs one behind the other along a new axis: features become a sequence, images a volume.</source>
        <translation>沿新轴将各输入依次堆叠：特征变为序列，图像变为体数据。</translation>
    </message>
    <message>
        <source>Puts steps around a sequence: zeros, a constant, a reflection, a replication or circular.</source>
        <translation>在序列两端添加时间步：零、常量、反射、复制或循环。</translation>
    </message>
    <message>
        <source>PyTorch</source>
        <translation>PyTorch</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
    <message>
        <source>Python (*.py)</source>
        <translation>Python (*.py)</translation>
    </message>
    <message>
        <source>Python data set</source>
        <translation>Python 数据集</translation>
    </message>
    <message>
        <source>Python environment</source>
        <translation>Python 环境</translation>
    </message>
    <message>
        <source>Python file with a function initialize(values), called before each trial</source>
        <translation>包含函数 initialize(values) 的 Python 文件，在每次试验前调用</translation>
    </message>
    <message>
        <source>Python file with a function loss(outputs, targets)</source>
        <translation>包含函数 loss(outputs, targets) 的 Python 文件</translation>
    </message>
    <message>
        <source>Python file with a function metric(outputs, targets)</source>
        <translation>包含函数 metric(outputs, targets) 的 Python 文件</translation>
    </message>
    <message>
        <source>Python file with a function next_values(trials)</source>
        <translation>包含函数 next_values(trials) 的 Python 文件</translation>
    </message>
    <message>
        <source>Python file with a function training_step</source>
        <translation>包含函数 training_step 的 Python 文件</translation>
    </message>
    <message>
        <source>Python file with functions called while training</source>
        <translation>包含训练时所调用函数的 Python 文件</translation>
    </message>
    <message>
        <source>P² of the Morse wavelet: larger is longer in time and sharper in frequency</source>
        <translation>Morse 小波的 P²：越大则时间上越长、频率上越锐</translation>
    </message>
    <message>
        <source>Quasi-Newton with a line search</source>
        <translation>带线搜索的拟牛顿法</translation>
    </message>
    <message>
        <source>Queue another run</source>
        <translation>将另一个运行加入队列</translation>
    </message>
    <message>
        <source>RMSE on the validation split</source>
        <translation>验证部分的 RMSE</translation>
    </message>
    <message>
        <source>RMSprop</source>
        <translation>RMSprop</translation>
    </message>
    <message>
        <source>Raises each number to a power: 2 squares it, -1 gives one over it, 0.5 its root.</source>
        <translation>将每个数取幂：2 为平方，-1 为倒数，0.5 为平方根。</translation>
    </message>
    <message>
        <source>Random seed of the split</source>
        <translation>拆分的随机种子</translation>
    </message>
    <message>
        <source>Random values</source>
        <translation>随机值</translation>
    </message>
    <message>
        <source>Range of the angle of clockwise rotation</source>
        <translation>顺时针旋转角度的范围</translation>
    </message>
    <message>
        <source>Range of the factor on the height</source>
        <translation>高度因子的范围</translation>
    </message>
    <message>
        <source>Range of the factor on the width</source>
        <translation>宽度因子的范围</translation>
    </message>
    <message>
        <source>Range of the factor on width and height together</source>
        <translation>宽度和高度共同因子的范围</translation>
    </message>
    <message>
        <source>Range of the fraction erased, 0 to 1</source>
        <translation>擦除比例的范围，0 到 1</translation>
    </message>
    <message>
        <source>Range of the numbers of target images</source>
        <translation>目标图像数值的范围</translation>
    </message>
    <message>
        <source>Range of the shear angle along x</source>
        <translation>沿 x 剪切角度的范围</translation>
    </message>
    <message>
        <source>Range of the shear angle along y</source>
        <translation>沿 y 剪切角度的范围</translation>
    </message>
    <message>
        <source>Range of the shift down</source>
        <translation>向下平移的范围</translation>
    </message>
    <message>
        <source>Range of the shift to later steps</source>
        <translation>向后续时间步偏移的范围</translation>
    </message>
    <message>
        <source>Range of the shift to the right</source>
        <translation>向右平移的范围</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>比率</translation>
    </message>
    <message>
        <source>Ratio of the first rate to the last</source>
        <translation>起始学习率与最终学习率之比</translation>
    </message>
    <message>
        <source>Ray</source>
        <translation>Ray</translation>
    </message>
    <message>
        <source>ReLU</source>
        <translation>ReLU 层</translation>
    </message>
    <message>
        <source>Reaction to a loss or gradient that is NaN or infinite</source>
        <translation>对 NaN 或无穷大的损失或梯度的反应</translation>
    </message>
    <message>
        <source>Read batch by batch while training goes on</source>
        <translation>在训练进行时逐批读取</translation>
    </message>
    <message>
        <source>Read by</source>
        <translation>读取方式</translation>
    </message>
    <message>
        <source>Read once, before training, and held whole by every worker</source>
        <translation>在训练前读取一次，每个工作单元持有全部</translation>
    </message>
    <message>
        <source>Reads a volume as a sequence of its slices, such as a film as a sequence of pictures.</source>
        <translation>将体数据读作其切片的序列，例如将影片读作画面的序列。</translation>
    </message>
    <message>
        <source>Reads an image as a sequence of its windows: each step is one window, with all its channels. (im2col)</source>
        <translation>将图像读作其各窗的序列：每个时间步是一个窗及其全部通道。(im2col)</translation>
    </message>
    <message>
        <source>Reads an image as a sequence: row by row, column by column, or place by place.</source>
        <translation>将图像读作序列：逐行、逐列或逐位置。</translation>
    </message>
    <message>
        <source>Reads the channels of an image as slices of a volume, one behind the other.</source>
        <translation>将图像的通道读作体数据的切片，依次排列。</translation>
    </message>
    <message>
        <source>Reads the slices of a volume as channels of an image.</source>
        <translation>将体数据的切片读作图像的通道。</translation>
    </message>
    <message>
        <source>Real</source>
        <translation>实部</translation>
    </message>
    <message>
        <source>Real and imaginary parts alternate: channels 1 and 2 are one number, as in MATLAB</source>
        <translation>实部和虚部交替：通道 1 和 2 为一个数，与 MATLAB 相同</translation>
    </message>
    <message>
        <source>Real and imaginary parts as adjacent channels, as a real-to-complex layer reads them</source>
        <translation>实部和虚部为相邻通道，与实数转复数层的读取方式相同</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>召回率</translation>
    </message>
    <message>
        <source>Recall on the validation split</source>
        <translation>验证部分的召回率</translation>
    </message>
    <message>
        <source>Recent projects, examples, templates</source>
        <translation>最近的项目、示例、模板</translation>
    </message>
    <message>
        <source>Recipes by a small GPT</source>
        <translation>小型 GPT 编写的食谱</translation>
    </message>
    <message>
        <source>Recomputes activations, which saves memory</source>
        <translation>重新计算激活值，以节省内存</translation>
    </message>
    <message>
        <source>Rectangular</source>
        <translation>矩形</translation>
    </message>
    <message>
        <source>Recurrent</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>Recurrent bias after multiplication</source>
        <translation>相乘之后并带循环偏置</translation>
    </message>
    <message>
        <source>Reduction of the values to one</source>
        <translation>将各值归约为一个</translation>
    </message>
    <message>
        <source>Reduction of the vectors to one</source>
        <translation>将各向量归约为一个</translation>
    </message>
    <message>
        <source>Reference</source>
        <translation>参考</translation>
    </message>
    <message>
        <source>Reflection</source>
        <translation>反射</translation>
    </message>
    <message>
        <source>Regression</source>
        <translation>回归</translation>
    </message>
    <message>
        <source>Regression on the columns of a table.</source>
        <translation>对表格各列进行回归。</translation>
    </message>
    <message>
        <source>Regularisation</source>
        <translation>正则化</translation>
    </message>
    <message>
        <source>Repeat</source>
        <translation>重复</translation>
    </message>
    <message>
        <source>Repeat the last value</source>
        <translation>重复最后一个值</translation>
    </message>
    <message>
        <source>Repeat with 5 seeds: how much of a difference is chance</source>
        <translation>用 5 个种子重复：差异中有多少是偶然</translation>
    </message>
    <message>
        <source>Repeats</source>
        <translation>重复次数</translation>
    </message>
    <message>
        <source>Repeats what lies along one axis: the whole again and again, or each place before the next.</source>
        <translation>沿一个轴重复：整体反复，或每个位置依次重复。</translation>
    </message>
    <message>
        <source>Replace the selected blocks by their contents</source>
        <translation>用所选模块的内容替换这些模块</translation>
    </message>
    <message>
        <source>Replication</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Reproducibility</source>
        <translation>可再现性</translation>
    </message>
    <message>
        <source>ResNet-101</source>
        <translation>ResNet-101</translation>
    </message>
    <message>
        <source>ResNet-18</source>
        <translation>ResNet-18</translation>
    </message>
    <message>
        <source>ResNet-50</source>
        <translation>ResNet-50</translation>
    </message>
    <message>
        <source>Rescale to 0 to 1</source>
        <translation>缩放到 0 到 1</translation>
    </message>
    <message>
        <source>Rescale to −1 to 1</source>
        <translation>缩放到 −1 到 1</translation>
    </message>
    <message>
        <source>Reset gate mode</source>
        <translation>重置门模式</translation>
    </message>
    <message>
        <source>Reset input normalization</source>
        <translation>重置输入归一化</translation>
    </message>
    <message>
        <source>Reshape</source>
        <translation>重构</translation>
    </message>
    <message>
        <source>Residual network with 101 layers with bottleneck blocks.</source>
        <translation>101 层残差网络，带瓶颈块。</translation>
    </message>
    <message>
        <source>Residual network with 18 layers, a good first choice.</source>
        <translation>18 层残差网络，很好的首选。</translation>
    </message>
    <message>
        <source>Residual network with 50 layers with bottleneck blocks.</source>
        <translation>50 层残差网络，带瓶颈块。</translation>
    </message>
    <message>
        <source>Resize by</source>
        <translation>缩放倍数</translation>
    </message>
    <message>
        <source>Response</source>
        <translation>响应</translation>
    </message>
    <message>
        <source>Response per</source>
        <translation>响应单位</translation>
    </message>
    <message>
        <source>Restart period</source>
        <translation>重启周期</translation>
    </message>
    <message>
        <source>Restart period factor</source>
        <translation>重启周期因子</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Resume the run that is shown, from its last state</source>
        <translation>从最后的状态继续所显示的运行</translation>
    </message>
    <message>
        <source>Returned orders</source>
        <translation>退货订单</translation>
    </message>
    <message>
        <source>Returns a tensor of fixed sizes with the same number everywhere, whatever the input.</source>
        <translation>返回固定大小的张量，各处的数相同，与输入无关。</translation>
    </message>
    <message>
        <source>Returns learned numbers, equal for every sample: queries, prompts, an initial state. (nn.Parameter)</source>
        <translation>返回对每个样本都相同的可学习数值：查询、提示、初始状态。(nn.Parameter)</translation>
    </message>
    <message>
        <source>Returns to the last checkpoint with a lower rate</source>
        <translation>以较低的学习率回到最近的检查点</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>右侧</translation>
    </message>
    <message>
        <source>Rises linearly over the warm-up, then constant</source>
        <translation>在预热期间线性上升，之后保持恒定</translation>
    </message>
    <message>
        <source>Rises to a multiple of the initial rate and falls, in cycles</source>
        <translation>循环升到初始学习率的倍数再下降</translation>
    </message>
    <message>
        <source>Rises to the initial learn rate, then falls to near 0</source>
        <translation>升到初始学习率，然后降到接近 0</translation>
    </message>
    <message>
        <source>Roofline…</source>
        <translation>屋顶线…</translation>
    </message>
    <message>
        <source>Root mean square propagation</source>
        <translation>均方根传播</translation>
    </message>
    <message>
        <source>Root mean squared error</source>
        <translation>均方根误差</translation>
    </message>
    <message>
        <source>Root of the squared error, mean over samples and responses</source>
        <translation>误差平方的根，对样本和响应取均值</translation>
    </message>
    <message>
        <source>Rotary</source>
        <translation>旋转</translation>
    </message>
    <message>
        <source>Rotary position embedding: queries and keys are rotated by angles that grow with the step</source>
        <translation>旋转位置嵌入：查询和键旋转的角度随时间步增大</translation>
    </message>
    <message>
        <source>Rotation</source>
        <translation>旋转</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>舍入</translation>
    </message>
    <message>
        <source>Rounding</source>
        <translation>舍入</translation>
    </message>
    <message>
        <source>Rounding to the nearest position</source>
        <translation>舍入到最近的位置</translation>
    </message>
    <message>
        <source>Rounds each number to what an integer format with one scale holds, so that a network learns to live with it.</source>
        <translation>将每个数舍入为单一缩放的整数格式所能表示的值，使网络学会适应它。</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Rows are left out in which a cell is empty, NA, N/A, NaN, null, -, </source>
        <translation>排除含有空单元格、NA、N/A、NaN、null、- 的行，</translation>
    </message>
    <message>
        <source>Rows follow each other evenly, whatever their times</source>
        <translation>各行等间隔相继，与其时间无关</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Runge–Kutta 4</source>
        <translation>Runge–Kutta 4</translation>
    </message>
    <message>
        <source>Running mean and variance, updated at each step</source>
        <translation>移动均值和方差，每步更新</translation>
    </message>
    <message>
        <source>Runs an expression of tensors, such as x1 * torch.sigmoid(x2), or a function of yours from a Python file.</source>
        <translation>运行张量表达式，例如 x1 * torch.sigmoid(x2)，或您的 Python 文件中的函数。</translation>
    </message>
    <message>
        <source>Runs an nn.Module of yours from a Python file.</source>
        <translation>运行您的 Python 文件中的 nn.Module。</translation>
    </message>
    <message>
        <source>Runs on clusters: show, stop, fetch, delete</source>
        <translation>集群上的运行：显示、停止、获取、删除</translation>
    </message>
    <message>
        <source>Runs per trial by k-fold cross-validation: each part validates once</source>
        <translation>每次试验通过 k 折交叉验证的运行数：每份验证一次</translation>
    </message>
    <message>
        <source>Runs per trial with different seeds of the training</source>
        <translation>每次试验以不同训练种子的运行数</translation>
    </message>
    <message>
        <source>R²</source>
        <translation>R²</translation>
    </message>
    <message>
        <source>R² on the validation split</source>
        <translation>验证部分的 R²</translation>
    </message>
    <message>
        <source>SGD with momentum</source>
        <translation>带动量的随机梯度下降</translation>
    </message>
    <message>
        <source>SHA-256</source>
        <translation>SHA-256</translation>
    </message>
    <message>
        <source>SHA-256 of the weights when they were chosen</source>
        <translation>选定权重时的 SHA-256</translation>
    </message>
    <message>
        <source>SWA anneal epochs</source>
        <translation>SWA 退火轮数</translation>
    </message>
    <message>
        <source>SWA learn rate</source>
        <translation>SWA 学习率</translation>
    </message>
    <message>
        <source>SWA start epoch</source>
        <translation>SWA 起始轮</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Sample rate</source>
        <translation>采样率</translation>
    </message>
    <message>
        <source>Sample rate that all sounds are resampled to</source>
        <translation>所有声音重采样到的采样率</translation>
    </message>
    <message>
        <source>Samples from {part}.</source>
        <translation>样本取自 {part}。</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>First rows</source>
        <translation>前几行</translation>
    </message>
    <message>
        <source>Samples first (Python)</source>
        <translation>样本在前 (Python)</translation>
    </message>
    <message>
        <source>Samples first, as in files that scipy.io.savemat wrote: N T C, N C H W, N C D H W</source>
        <translation>样本在前，与 scipy.io.savemat 写出的文件相同：N T C、N C H W、N C D H W</translation>
    </message>
    <message>
        <source>Samples last (MATLAB)</source>
        <translation>样本在后 (MATLAB)</translation>
    </message>
    <message>
        <source>Samples last: T x C x N, H x W x C x N, H x W x D x C x N</source>
        <translation>样本在后：T x C x N、H x W x C x N、H x W x D x C x N</translation>
    </message>
    <message>
        <source>Samples left out between training and validation, and between validation and test, so that windows of time do not overlap</source>
        <translation>训练与验证之间以及验证与测试之间排除的样本，使时间窗互不重叠</translation>
    </message>
    <message>
        <source>Samples per optimizer step, over all workers</source>
        <translation>每个优化器步的样本数，所有工作单元合计</translation>
    </message>
    <message>
        <source>Saturation</source>
        <translation>饱和度</translation>
    </message>
    <message>
        <source>Save a checkpoint</source>
        <translation>保存检查点</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>另存为…</translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation>保存图片…</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Scale L2 factor</source>
        <translation>缩放 L2 因子</translation>
    </message>
    <message>
        <source>Scale and shift</source>
        <translation>缩放和偏移</translation>
    </message>
    <message>
        <source>Scale initialiser</source>
        <translation>缩放初始化函数</translation>
    </message>
    <message>
        <source>Scale of the height</source>
        <translation>高度缩放</translation>
    </message>
    <message>
        <source>Scale of the width</source>
        <translation>宽度缩放</translation>
    </message>
    <message>
        <source>Scale rate factor</source>
        <translation>缩放学习率因子</translation>
    </message>
    <message>
        <source>Scales the channels of each place so that their root mean square is 1. (RMSNorm)</source>
        <translation>缩放每个位置的通道，使其均方根为 1。(RMSNorm)</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>Length; 0: the rest</source>
        <translation>长度；0：其余部分</translation>
    </message>
    <message>
        <source>Add a schedule</source>
        <translation>添加调度</translation>
    </message>
    <message>
        <source>Remove this schedule</source>
        <translation>移除此调度</translation>
    </message>
    <message>
        <source>Remove schedule {number}</source>
        <translation>移除调度 {number}</translation>
    </message>
    <message>
        <source>Schedule {number}</source>
        <translation>调度 {number}</translation>
    </message>
    <message>
        <source>Length of schedule {number}</source>
        <translation>调度 {number} 的长度</translation>
    </message>
    <message>
        <source>Unit of the length of schedule {number}</source>
        <translation>调度 {number} 的长度单位</translation>
    </message>
    <message>
        <source>Factor of schedule {number}</source>
        <translation>调度 {number} 的因子</translation>
    </message>
    <message>
        <source>Schedules in a row: warmup 100 iterations, cosine</source>
        <translation>依次排列的调度：warmup 100 iterations, cosine</translation>
    </message>
    <message>
        <source>best weights</source>
        <translation>最佳权重</translation>
    </message>
    <message>
        <source>last weights</source>
        <translation>最后的权重</translation>
    </message>
    <message>
        <source>Evaluate shows scores, confusions and the samples that the network gets wrong.</source>
        <translation>“评估”显示分数、混淆情况以及网络答错的样本。</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>分数</translation>
    </message>
    <message>
        <source>Evaluate</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Another file…</source>
        <translation>其他文件…</translation>
    </message>
    <message>
        <source>Another folder…</source>
        <translation>其他文件夹…</translation>
    </message>
    <message>
        <source>Evaluate on another file</source>
        <translation>用其他文件评估</translation>
    </message>
    <message>
        <source>Evaluate on another folder</source>
        <translation>用其他文件夹评估</translation>
    </message>
    <message>
        <source>Evaluate again</source>
        <translation>重新评估</translation>
    </message>
    <message numerus="yes">
        <source>Evaluating: {done:,} of %n sample(s)…</source>
        <translation>
            <numerusform>正在评估：已完成 {done:,} 个，共 %n 个样本…</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) of the {data}</source>
        <translation>
            <numerusform>{data}的 %n 个样本</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} weights</source>
        <translation>{name} 权重</translation>
    </message>
    <message>
        <source>{text}, as evaluated before</source>
        <translation>{text}，采用之前的评估结果</translation>
    </message>
    <message>
        <source>Scores of {output}</source>
        <translation>{output} 的分数</translation>
    </message>
    <message>
        <source>Scores per class</source>
        <translation>各类别的分数</translation>
    </message>
    <message>
        <source>with 95 % intervals</source>
        <translation>含 95 % 区间</translation>
    </message>
    <message>
        <source>Error by number</source>
        <translation>各数值的误差</translation>
    </message>
    <message>
        <source>RMSE of each predicted number</source>
        <translation>每个预测数值的 RMSE</translation>
    </message>
    <message>
        <source>Predicted against true: {name}</source>
        <translation>预测值与真实值：{name}</translation>
    </message>
    <message>
        <source>predicted minus true</source>
        <translation>预测值减真实值</translation>
    </message>
    <message>
        <source>{actual} taken for {predicted}</source>
        <translation>{actual} 被误认为 {predicted}</translation>
    </message>
    <message>
        <source>Scores are divided by the temperature that was stored with the network</source>
        <translation>分数除以随网络存储的温度</translation>
    </message>
    <message>
        <source>Scores of the run that is shown, on test, validation or training data</source>
        <translation>所显示的运行在测试、验证或训练数据上的分数</translation>
    </message>
    <message>
        <source>Search better values within a budget of time, and prove them against the project as it is</source>
        <translation>在限定的时间内搜索更好的值，并与当前项目对比验证</translation>
    </message>
    <message>
        <source>Search the library…</source>
        <translation>搜索层库…</translation>
    </message>
    <message>
        <source>Season</source>
        <translation>季节</translation>
    </message>
    <message>
        <source>Seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Seed of the values that are chosen</source>
        <translation>所选值的种子</translation>
    </message>
    <message>
        <source>Seed of weights, order of samples and dropout</source>
        <translation>权重、样本顺序和丢弃的种子</translation>
    </message>
    <message>
        <source>Seen</source>
        <translation>可见</translation>
    </message>
    <message>
        <source>Segmentation: a class for every pixel of an image.</source>
        <translation>分割：为图像的每个像素确定类别。</translation>
    </message>
    <message>
        <source>Segments by the number of layers</source>
        <translation>按层数分段</translation>
    </message>
    <message>
        <source>Self-attention whose heads share keys and values in groups, with rotary or linear positions (RoPE, ALiBi).</source>
        <translation>各头分组共享键和值的自注意力，使用旋转或线性位置编码 (RoPE, ALiBi)。</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>Sequence column</source>
        <translation>序列列</translation>
    </message>
    <message>
        <source>Sequence length</source>
        <translation>序列长度</translation>
    </message>
    <message>
        <source>Sequence padding</source>
        <translation>序列填充</translation>
    </message>
    <message>
        <source>Sequence to sequence</source>
        <translation>序列到序列</translation>
    </message>
    <message>
        <source>Sequences</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>Sequences are cut into pieces</source>
        <translation>将序列切成段</translation>
    </message>
    <message>
        <source>Sequences of indices, such as words, for an embedding</source>
        <translation>索引（例如单词）的序列，用于嵌入</translation>
    </message>
    <message>
        <source>Sequences: a table each (CSV, Parquet), in class folders or in a list, or one long table of all</source>
        <translation>序列：每个一张表格（CSV、Parquet），在类别文件夹或列表中，或全部在一张长表中</translation>
    </message>
    <message>
        <source>Settings of the program: theme, size of the text, notifications, shortcuts, folders</source>
        <translation>程序的设置：主题、文本大小、通知、快捷键、文件夹</translation>
    </message>
    <message>
        <source>Several GPUs</source>
        <translation>多个 GPU</translation>
    </message>
    <message>
        <source>Several GPUs of this machine, over nccl</source>
        <translation>本机的多个 GPU，通过 nccl</translation>
    </message>
    <message>
        <source>Several of these in sequence</source>
        <translation>依次采用其中几种</translation>
    </message>
    <message>
        <source>Several processes on the CPU</source>
        <translation>CPU 上的多个进程</translation>
    </message>
    <message>
        <source>Several workers on the CPU</source>
        <translation>CPU 上的多个工作单元</translation>
    </message>
    <message>
        <source>Several yes or no at once (arrays, or several columns, of 0 and 1)</source>
        <translation>同时有多个是或否（由 0 和 1 组成的数组或多列）</translation>
    </message>
    <message>
        <source>Shape of the wavelets</source>
        <translation>小波的形状</translation>
    </message>
    <message>
        <source>Shapes</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>Shard cache</source>
        <translation>分片缓存</translation>
    </message>
    <message>
        <source>Shards</source>
        <translation>分片</translation>
    </message>
    <message>
        <source>Shards (*.tar *.parquet)</source>
        <translation>分片 (*.tar *.parquet)</translation>
    </message>
    <message>
        <source>Share of the teacher&apos;s answers in the loss, 0 to 1</source>
        <translation>教师的答案在损失中的比例，0 到 1</translation>
    </message>
    <message>
        <source>Shared memory</source>
        <translation>共享内存</translation>
    </message>
    <message>
        <source>Shares of the batch</source>
        <translation>批量的分配</translation>
    </message>
    <message>
        <source>Shear along x</source>
        <translation>沿 x 剪切</translation>
    </message>
    <message>
        <source>Shear along y</source>
        <translation>沿 y 剪切</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>偏移</translation>
    </message>
    <message>
        <source>Shift L2 factor</source>
        <translation>偏移 L2 因子</translation>
    </message>
    <message>
        <source>Shift initialiser</source>
        <translation>偏移初始化函数</translation>
    </message>
    <message>
        <source>Shift rate factor</source>
        <translation>偏移学习率因子</translation>
    </message>
    <message>
        <source>Shifts values along one axis by a number of places, around its end.</source>
        <translation>沿一个轴将值移动若干位置，到末端则绕回。</translation>
    </message>
    <message>
        <source>Shortest</source>
        <translation>最短</translation>
    </message>
    <message>
        <source>Show and edit the contents of the selected block; so does a double click</source>
        <translation>显示并编辑所选模块的内容；双击也可以</translation>
    </message>
    <message>
        <source>Show the differences from another project</source>
        <translation>显示与另一个项目的差异</translation>
    </message>
    <message>
        <source>Shows the health of layers on the canvas</source>
        <translation>在画布上显示各层的健康状况</translation>
    </message>
    <message>
        <source>Shrink by</source>
        <translation>缩小倍数</translation>
    </message>
    <message>
        <source>Shuffle</source>
        <translation>打乱</translation>
    </message>
    <message>
        <source>Shuffle within</source>
        <translation>打乱范围</translation>
    </message>
    <message>
        <source>Side on which sequences are padded and cut</source>
        <translation>对序列进行填充和截断的一侧</translation>
    </message>
    <message>
        <source>Sigmoid</source>
        <translation>Sigmoid 层</translation>
    </message>
    <message>
        <source>Sign</source>
        <translation>符号</translation>
    </message>
    <message>
        <source>Signal</source>
        <translation>信号</translation>
    </message>
    <message>
        <source>Signed</source>
        <translation>有符号</translation>
    </message>
    <message>
        <source>Sine</source>
        <translation>正弦</translation>
    </message>
    <message>
        <source>Single precision everywhere, as in MATLAB</source>
        <translation>处处为单精度，与 MATLAB 相同</translation>
    </message>
    <message>
        <source>Single precision with products of 10 bits</source>
        <translation>单精度，乘积为 10 位</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Size added at the end of each axis</source>
        <translation>在每个轴末端添加的大小</translation>
    </message>
    <message>
        <source>Size of each axis of the layout</source>
        <translation>布局中每个轴的大小</translation>
    </message>
    <message>
        <source>Size of the hidden state, and of the output of each direction</source>
        <translation>隐藏状态的大小，也是每个方向输出的大小</translation>
    </message>
    <message>
        <source>Size of the integers</source>
        <translation>整数的大小</translation>
    </message>
    <message>
        <source>Size of the window: depth × height × width</source>
        <translation>窗的大小：深度 × 高度 × 宽度</translation>
    </message>
    <message>
        <source>Size of the window: height × width</source>
        <translation>窗的大小：高度 × 宽度</translation>
    </message>
    <message>
        <source>Size of the window: steps</source>
        <translation>窗的大小：时间步数</translation>
    </message>
    <message>
        <source>Sizes</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>Slides learned filters along a sequence, each group of channels by itself.</source>
        <translation>使可学习的滤波器沿序列滑动，各组通道分别处理。</translation>
    </message>
    <message>
        <source>Slides learned filters along a sequence.</source>
        <translation>使可学习的滤波器沿序列滑动。</translation>
    </message>
    <message>
        <source>Slides learned filters over an image, each group of channels by itself.</source>
        <translation>使可学习的滤波器在图像上滑动，各组通道分别处理。</translation>
    </message>
    <message>
        <source>Slides learned filters over an image.</source>
        <translation>使可学习的滤波器在图像上滑动。</translation>
    </message>
    <message>
        <source>Slides learned filters through a volume, each group of channels by itself.</source>
        <translation>使可学习的滤波器在体数据中滑动，各组通道分别处理。</translation>
    </message>
    <message>
        <source>Slides learned filters through a volume.</source>
        <translation>使可学习的滤波器在体数据中滑动。</translation>
    </message>
    <message>
        <source>Slope below zero</source>
        <translation>零以下的斜率</translation>
    </message>
    <message>
        <source>Smallest slope below zero</source>
        <translation>零以下的最小斜率</translation>
    </message>
    <message>
        <source>Softsign</source>
        <translation>Softsign 层</translation>
    </message>
    <message>
        <source>Solver</source>
        <translation>求解器</translation>
    </message>
    <message>
        <source>Sound channels</source>
        <translation>声道</translation>
    </message>
    <message>
        <source>Sounds: a folder with one subfolder per class, or a table of file and label</source>
        <translation>声音：每个类别一个子文件夹的文件夹，或由文件和标签组成的表格</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Source mask</source>
        <translation>源掩码</translation>
    </message>
    <message>
        <source>Source of the mean, the standard deviation and the limits</source>
        <translation>均值、标准差和界限的来源</translation>
    </message>
    <message>
        <source>Source of the positions</source>
        <translation>位置的来源</translation>
    </message>
    <message>
        <source>Source of the statistics</source>
        <translation>统计量的来源</translation>
    </message>
    <message>
        <source>Spatial channel</source>
        <translation>空间和通道</translation>
    </message>
    <message>
        <source>Spectrogram</source>
        <translation>频谱图</translation>
    </message>
    <message>
        <source>Speed of each layer beside what the device allows; a trace of steps for Perfetto</source>
        <translation>每层的速度与设备上限的对比；可供 Perfetto 使用的各步跟踪记录</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>拆分</translation>
    </message>
    <message>
        <source>Split seed</source>
        <translation>拆分种子</translation>
    </message>
    <message>
        <source>Splits a signal into details from fine to coarse and a smooth rest, at every step. (Maximal overlap DWT)</source>
        <translation>在每个时间步将信号分解为由细到粗的细节和平滑的剩余部分。（最大重叠 DWT）</translation>
    </message>
    <message>
        <source>Splits a signal into the frequencies of overlapping windows: a spectrogram.</source>
        <translation>将信号分解为各重叠窗的频率：频谱图。</translation>
    </message>
    <message>
        <source>Square root</source>
        <translation>平方根</translation>
    </message>
    <message>
        <source>Square root of the number of workers</source>
        <translation>工作单元数的平方根</translation>
    </message>
    <message>
        <source>Squared</source>
        <translation>平方</translation>
    </message>
    <message>
        <source>Squared gradient decay factor</source>
        <translation>梯度平方衰减因子</translation>
    </message>
    <message>
        <source>Squeezes numbers between -1 and 1, slower than tanh: x / (1 + |x|).</source>
        <translation>将数值压缩到 -1 和 1 之间，比 tanh 更缓：x / (1 + |x|)。</translation>
    </message>
    <message>
        <source>Squeezes numbers between -1 and 1: tanh(x).</source>
        <translation>将数值压缩到 -1 和 1 之间：tanh(x)。</translation>
    </message>
    <message>
        <source>Squeezes numbers between 0 and 1: 1 / (1 + exp(-x)).</source>
        <translation>将数值压缩到 0 和 1 之间：1 / (1 + exp(-x))。</translation>
    </message>
    <message>
        <source>Standard deviation of normal noise</source>
        <translation>正态噪声的标准差</translation>
    </message>
    <message>
        <source>Standard deviation of the data, one number for all channels or one per channel</source>
        <translation>数据的标准差，所有通道一个数或每个通道一个数</translation>
    </message>
    <message>
        <source>Standard deviation of the noise, in the units of the input</source>
        <translation>噪声的标准差，以输入的单位计</translation>
    </message>
    <message>
        <source>Standard deviation of the responses, in their units</source>
        <translation>响应的标准差，以其单位计</translation>
    </message>
    <message>
        <source>Stands inside a block for one of its inputs. Its name is the name of the port.</source>
        <translation>在模块内代表其一个输入。其名称即端口的名称。</translation>
    </message>
    <message>
        <source>Stands inside a block for one of its outputs. Its name is the name of the port.</source>
        <translation>在模块内代表其一个输出。其名称即端口的名称。</translation>
    </message>
    <message>
        <source>Match system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>User data</source>
        <translation>用户数据</translation>
    </message>
    <message>
        <source>Runs of projects without a file, presets, blocks</source>
        <translation>尚无文件的项目的运行、预设、模块</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Clusters, webhook, trusted code</source>
        <translation>集群、Webhook、受信任的代码</translation>
    </message>
    <message>
        <source>The queue, unsaved work after a crash</source>
        <translation>队列、崩溃后未保存的工作</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>Prepared data and pictures: can be deleted</source>
        <translation>已准备的数据和图片：可以删除</translation>
    </message>
    <message>
        <source>Execution environment, devices and threads belong to the project: each has its own</source>
        <translation>执行环境、设备和线程属于项目：每个项目各有自己的设置</translation>
    </message>
    <message>
        <source>Preferences</source>
        <translation>首选项</translation>
    </message>
    <message>
        <source>Pages of preferences</source>
        <translation>首选项的页面</translation>
    </message>
    <message>
        <source>General</source>
        <translation>常规</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>通知</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Start page</source>
        <translation>起始页</translation>
    </message>
    <message>
        <source>Last project</source>
        <translation>上次的项目</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Match system: light or dark, as the desktop is</source>
        <translation>跟随系统：与桌面一致，浅色或深色</translation>
    </message>
    <message>
        <source>Size of text</source>
        <translation>文本大小</translation>
    </message>
    <message>
        <source>The canvas has a size of its own: zoom it</source>
        <translation>画布有自己的大小：请缩放画布</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Shown after a restart of Netwright. Messages of the engine are in English</source>
        <translation>重新启动 Netwright 后生效。引擎的消息为英文</translation>
    </message>
    <message>
        <source>Start</source>
        <comment>of the program</comment>
        <translation>启动</translation>
    </message>
    <message>
        <source>Message on the desktop</source>
        <translation>在桌面上显示消息</translation>
    </message>
    <message>
        <source>While another window is active</source>
        <translation>当其他窗口处于活动状态时</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Begin with</source>
        <translation>启动时显示</translation>
    </message>
    <message>
        <source>Unsaved work after a crash comes first, whatever is chosen</source>
        <translation>无论如何选择，崩溃后未保存的工作总是优先显示</translation>
    </message>
    <message>
        <source>New runs</source>
        <translation>新的运行</translation>
    </message>
    <message>
        <source>What this machine has, whether it works, and how fast it is</source>
        <translation>本机有哪些设备、是否可用、速度如何</translation>
    </message>
    <message>
        <source>Devices…</source>
        <translation>设备…</translation>
    </message>
    <message>
        <source>Profiles of clusters: Slurm, hosts over ssh, Ray. Training options choose one of them</source>
        <translation>集群配置文件：Slurm、通过 ssh 访问的主机、Ray。在训练选项中选择其中之一</translation>
    </message>
    <message>
        <source>Clusters…</source>
        <translation>集群…</translation>
    </message>
    <message>
        <source>Open the folder {name}</source>
        <translation>打开“{name}”文件夹</translation>
    </message>
    <message>
        <source>Beep</source>
        <translation>提示音</translation>
    </message>
    <message>
        <source>When a run ends</source>
        <translation>运行结束时</translation>
    </message>
    <message>
        <source>Start from weights</source>
        <translation>从权重开始</translation>
    </message>
    <message>
        <source>The next run starts from these weights. Ctrl+Z undoes it.</source>
        <translation>下一个运行从这些权重开始。按 Ctrl+Z 可撤销。</translation>
    </message>
    <message>
        <source>There is no trained network yet</source>
        <translation>尚无经过训练的网络</translation>
    </message>
    <message>
        <source>Pruning takes one: train the network first.</source>
        <translation>剪枝需要经过训练的网络：请先训练网络。</translation>
    </message>
    <message>
        <source>Freeze up to {name}</source>
        <translation>冻结到 {name}</translation>
    </message>
    <message>
        <source>Freeze no layers</source>
        <translation>不冻结任何层</translation>
    </message>
    <message>
        <source>State L2 factor</source>
        <translation>状态 L2 因子</translation>
    </message>
    <message>
        <source>State activation</source>
        <translation>状态激活函数</translation>
    </message>
    <message>
        <source>State initialiser</source>
        <translation>状态初始化函数</translation>
    </message>
    <message>
        <source>State inputs</source>
        <translation>状态输入</translation>
    </message>
    <message>
        <source>State outputs</source>
        <translation>状态输出</translation>
    </message>
    <message>
        <source>State rate factor</source>
        <translation>状态学习率因子</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>统计量</translation>
    </message>
    <message>
        <source>Statistics of the responses in the training split, one value per channel, stored with the weights</source>
        <translation>训练部分响应的统计量，每个通道一个值，随权重存储</translation>
    </message>
    <message>
        <source>Statistics of the training split, which become part of the exported network</source>
        <translation>训练部分的统计量，成为导出网络的一部分</translation>
    </message>
    <message>
        <source>Statistics that batch normalisation uses after training</source>
        <translation>批量归一化在训练后使用的统计量</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Step size at the start</source>
        <translation>开始时的步长</translation>
    </message>
    <message>
        <source>Step tolerance</source>
        <translation>步长容差</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Steps added before and after</source>
        <translation>在前后添加的时间步数</translation>
    </message>
    <message>
        <source>Steps from one window to the next</source>
        <translation>从一个窗到下一个窗的时间步数</translation>
    </message>
    <message>
        <source>Steps of the past that a sample holds</source>
        <translation>一个样本包含的过去时间步数</translation>
    </message>
    <message>
        <source>Steps of the source that each of its steps attends to</source>
        <translation>源的每个时间步所关注的源时间步</translation>
    </message>
    <message>
        <source>Steps of the source that each step of the target attends to</source>
        <translation>目标的每个时间步所关注的源时间步</translation>
    </message>
    <message>
        <source>Steps of the target that each of its steps attends to</source>
        <translation>目标的每个时间步所关注的目标时间步</translation>
    </message>
    <message>
        <source>Steps per piece</source>
        <translation>每段的时间步数</translation>
    </message>
    <message>
        <source>Steps that are predicted at once</source>
        <translation>一次预测的时间步数</translation>
    </message>
    <message>
        <source>Steps that each step attends to</source>
        <translation>每个时间步所关注的时间步</translation>
    </message>
    <message>
        <source>Steps: one after the other</source>
        <translation>时间步：依次排列</translation>
    </message>
    <message>
        <source>Stereo</source>
        <translation>立体声</translation>
    </message>
    <message>
        <source>Stochastic gradient descent with momentum</source>
        <translation>带动量的随机梯度下降</translation>
    </message>
    <message>
        <source>Stochastic weight averaging</source>
        <translation>随机权重平均</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop at</source>
        <translation>停止于</translation>
    </message>
    <message>
        <source>Stop with an error</source>
        <translation>报错并停止</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stops at a floor and at a ceiling, and passes what lies between: min(max(x, low), high). (clamp)</source>
        <translation>在下限和上限处截止，其间的值原样通过：min(max(x, low), high)。(clamp)</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>存储</translation>
    </message>
    <message>
        <source>Strategy</source>
        <translation>策略</translation>
    </message>
    <message>
        <source>Strategy function</source>
        <translation>策略函数</translation>
    </message>
    <message>
        <source>Streamed</source>
        <translation>流式</translation>
    </message>
    <message>
        <source>Strength a of averaging two images</source>
        <translation>将两幅图像取平均的强度 a</translation>
    </message>
    <message>
        <source>Strength a of pasting a part of another image</source>
        <translation>粘贴另一幅图像一部分的强度 a</translation>
    </message>
    <message>
        <source>Stretches of the same number of tokens, whatever they hold</source>
        <translation>词元数相同的片段，无论其内容</translation>
    </message>
    <message>
        <source>Stride</source>
        <translation>步幅</translation>
    </message>
    <message>
        <source>Strong Wolfe</source>
        <translation>强 Wolfe</translation>
    </message>
    <message>
        <source>Subtracts the second input from the first, place by place. Sizes are equal, or 1 where one number counts for all.</source>
        <translation>按元素从第一个输入中减去第二个输入。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Successive halving</source>
        <translation>逐次减半</translation>
    </message>
    <message>
        <source>Successive halving with several first lengths</source>
        <translation>具有多个初始长度的逐次减半</translation>
    </message>
    <message>
        <source>Suffix of the members that are the input (jpg, npy), or the column of a Parquet file</source>
        <translation>作为输入的成员的后缀（jpg、npy），或 Parquet 文件的列</translation>
    </message>
    <message>
        <source>Sum</source>
        <translation>总和</translation>
    </message>
    <message>
        <source>Sum of dice and cross-entropy</source>
        <translation>Dice 损失与交叉熵之和</translation>
    </message>
    <message>
        <source>Sums up along an axis, from its start to each place: what has come so far. (cumsum)</source>
        <translation>沿一个轴从起点累加到每个位置：到此为止的总和。(cumsum)</translation>
    </message>
    <message>
        <source>Symlet 4</source>
        <translation>Symlet 4</translation>
    </message>
    <message>
        <source>Symmetry</source>
        <translation>对称性</translation>
    </message>
    <message>
        <source>T × C</source>
        <translation>T × C</translation>
    </message>
    <message>
        <source>TCN forecaster</source>
        <translation>TCN 预测网络</translation>
    </message>
    <message>
        <source>TF32</source>
        <translation>TF32</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Table of layers</source>
        <translation>层表</translation>
    </message>
    <message>
        <source>Table of targets</source>
        <translation>目标表格</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt *.parquet *.pq)</source>
        <translation>表格 (*.csv *.tsv *.txt *.parquet *.pq)</translation>
    </message>
    <message>
        <source>Tables of files (*.csv *.tsv)</source>
        <translation>文件列表 (*.csv *.tsv)</translation>
    </message>
    <message>
        <source>Take and give float32 and convert inside</source>
        <translation>接收并给出 float32，在内部转换</translation>
    </message>
    <message>
        <source>Take the next sample</source>
        <translation>采用下一个样本</translation>
    </message>
    <message>
        <source>Take words in lower case</source>
        <translation>将单词转为小写</translation>
    </message>
    <message>
        <source>Takes a part of one axis: from a start to an end, in steps.</source>
        <translation>取一个轴的一部分：从起点到终点，按步长。</translation>
    </message>
    <message>
        <source>Takes each number from in1 where the condition is above zero, else from in2.</source>
        <translation>条件大于零处取 in1 的数，否则取 in2 的数。</translation>
    </message>
    <message>
        <source>Takes images, channels first.</source>
        <translation>接收图像，通道在前。</translation>
    </message>
    <message>
        <source>Takes means over a fixed grid of cells, whatever the size of the image.</source>
        <translation>在固定网格的单元格上取均值，与图像大小无关。</translation>
    </message>
    <message>
        <source>Takes means over a fixed grid of cells, whatever the size of the volume.</source>
        <translation>在固定网格的单元格上取均值，与体数据大小无关。</translation>
    </message>
    <message>
        <source>Takes means over a fixed number of cells along a sequence of any length.</source>
        <translation>沿任意长度的序列，在固定数量的单元格上取均值。</translation>
    </message>
    <message>
        <source>Takes one step out of a sequence, such as the last one; the output is features. (1-D indexing)</source>
        <translation>从序列中取出一个时间步，例如最后一个；输出为特征。（一维索引）</translation>
    </message>
    <message>
        <source>Takes one vector of numbers per sample, such as a row of a table.</source>
        <translation>每个样本接收一个数值向量，例如表格的一行。</translation>
    </message>
    <message>
        <source>Takes sequences: vectors of numbers, or indices such as words.</source>
        <translation>接收序列：数值向量，或单词等索引。</translation>
    </message>
    <message>
        <source>Takes the largest of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.</source>
        <translation>按元素取各输入的最大值。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Takes the mean of each channel over all positions: an image, a volume or a sequence becomes features.</source>
        <translation>取每个通道在所有位置上的均值：图像、体数据或序列变为特征。</translation>
    </message>
    <message>
        <source>Takes the mean of each window along a sequence.</source>
        <translation>沿序列取每个窗的均值。</translation>
    </message>
    <message>
        <source>Takes the mean of each window of a volume.</source>
        <translation>取体数据中每个窗的均值。</translation>
    </message>
    <message>
        <source>Takes the mean of each window of an image.</source>
        <translation>取图像中每个窗的均值。</translation>
    </message>
    <message>
        <source>Takes the mean of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.</source>
        <translation>按元素取各输入的均值。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Takes the p-norm of each window along a sequence. (Power-average pooling)</source>
        <translation>沿序列取每个窗的 p 范数。（幂平均池化）</translation>
    </message>
    <message>
        <source>Takes the p-norm of each window of a volume. (Power-average pooling)</source>
        <translation>取体数据中每个窗的 p 范数。（幂平均池化）</translation>
    </message>
    <message>
        <source>Takes the p-norm of each window of an image. (Power-average pooling)</source>
        <translation>取图像中每个窗的 p 范数。（幂平均池化）</translation>
    </message>
    <message>
        <source>Takes the smallest of its inputs, place by place. Sizes are equal, or 1 where the one number counts for all.</source>
        <translation>按元素取各输入的最小值。大小须相等，或为 1（此时同一个数用于全部位置）。</translation>
    </message>
    <message>
        <source>Takes volumes, such as scans or short films, channels first.</source>
        <translation>接收体数据，例如扫描或短片，通道在前。</translation>
    </message>
    <message>
        <source>Tangent</source>
        <translation>正切</translation>
    </message>
    <message>
        <source>Tanh</source>
        <translation>双曲正切层</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Target mask</source>
        <translation>目标掩码</translation>
    </message>
    <message>
        <source>Target value</source>
        <translation>目标值</translation>
    </message>
    <message>
        <source>Target values</source>
        <translation>目标值</translation>
    </message>
    <message>
        <source>Teacher run</source>
        <translation>教师运行</translation>
    </message>
    <message>
        <source>Tells how alike the directions of two vectors are: 1 the same, 0 at right angles, -1 opposite.</source>
        <translation>给出两个向量方向的相似程度：1 表示相同，0 表示垂直，-1 表示相反。</translation>
    </message>
    <message>
        <source>Tells how far two vectors are apart, over the channels unless told otherwise. (PairwiseDistance)</source>
        <translation>给出两个向量相距多远，除非另有指定，沿通道计算。(PairwiseDistance)</translation>
    </message>
    <message>
        <source>Tells which channel is the largest, at each place: the index of the most likely class.</source>
        <translation>给出每个位置上最大的通道：最可能类别的索引。</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Temporal indices</source>
        <translation>时间索引</translation>
    </message>
    <message>
        <source>best validation</source>
        <translation>最佳验证</translation>
    </message>
    <message>
        <source>smoothed</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>computing</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>{words} and {last}</source>
        <translation>{words} 和 {last}</translation>
    </message>
    <message>
        <source>Test data</source>
        <translation>测试数据</translation>
    </message>
    <message>
        <source>Test share</source>
        <translation>测试比例</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Texts (*.txt *.text *.md *.csv *.tsv)</source>
        <translation>文本 (*.txt *.text *.md *.csv *.tsv)</translation>
    </message>
    <message>
        <source>Texts: a table with a column of them, a folder with one subfolder per class, or one file to predict tokens</source>
        <translation>文本：含文本列的表格、每个类别一个子文件夹的文件夹，或用于预测词元的一个文件</translation>
    </message>
    <message>
        <source>The angle from -π/2 to π/2 whose sine is x, limited to -1 to 1</source>
        <translation>正弦为 x 的角度，从 -π/2 到 π/2，x 限制在 -1 到 1</translation>
    </message>
    <message>
        <source>The angle from -π/2 to π/2 whose tangent is x</source>
        <translation>正切为 x 的角度，从 -π/2 到 π/2</translation>
    </message>
    <message>
        <source>The angle from 0 to π whose cosine is x, limited to -1 to 1</source>
        <translation>余弦为 x 的角度，从 0 到 π，x 限制在 -1 到 1</translation>
    </message>
    <message>
        <source>The angle, from -π to π</source>
        <translation>角度，从 -π 到 π</translation>
    </message>
    <message>
        <source>The axes of the input, counted from 1 without the batch, in their new order</source>
        <translation>输入的各轴按新顺序排列，不含批量，从 1 起计数</translation>
    </message>
    <message>
        <source>The bytes of UTF-8: 256 tokens, none unknown</source>
        <translation>UTF-8 的字节：256 个词元，没有未知词元</translation>
    </message>
    <message>
        <source>The centre</source>
        <translation>中心</translation>
    </message>
    <message>
        <source>The channels of a position are adjacent: position · channels + channel</source>
        <translation>同一位置的通道相邻：位置 · 通道数 + 通道</translation>
    </message>
    <message>
        <source>The channels, separately at each position</source>
        <translation>通道，在每个位置分别计算</translation>
    </message>
    <message>
        <source>The class in the file, an nn.Module</source>
        <translation>文件中的类，为 nn.Module</translation>
    </message>
    <message>
        <source>The class weights below</source>
        <translation>下方的类别权重</translation>
    </message>
    <message>
        <source>The coefficients of each level</source>
        <translation>每一级的系数</translation>
    </message>
    <message>
        <source>The data unchanged</source>
        <translation>数据保持不变</translation>
    </message>
    <message>
        <source>The devices of this machine, whether they work, and how fast they are</source>
        <translation>本机的设备、是否可用、速度如何</translation>
    </message>
    <message>
        <source>The edge value repeated</source>
        <translation>重复边缘值</translation>
    </message>
    <message>
        <source>The elementwise maximum of the vectors</source>
        <translation>各向量的按元素最大值</translation>
    </message>
    <message>
        <source>The error function: the share of a normal distribution with variance 1/2 between -x and x</source>
        <translation>误差函数：方差为 1/2 的正态分布在 -x 和 x 之间的比例</translation>
    </message>
    <message>
        <source>The fastest available</source>
        <translation>最快的可用方式</translation>
    </message>
    <message>
        <source>The file takes the numbers of the data as they are</source>
        <translation>文件直接接收数据的原始数值</translation>
    </message>
    <message>
        <source>The first and the last position coincide</source>
        <translation>首尾位置重合</translation>
    </message>
    <message>
        <source>The first half of the channels are real parts, the second half imaginary parts</source>
        <translation>前一半通道为实部，后一半为虚部</translation>
    </message>
    <message>
        <source>The first position coincides</source>
        <translation>首个位置重合</translation>
    </message>
    <message>
        <source>The function in the file</source>
        <translation>文件中的函数</translation>
    </message>
    <message>
        <source>The input itself, such as a time</source>
        <translation>输入本身，例如时间</translation>
    </message>
    <message>
        <source>The input minus its tanh: x - tanh(x), nearly zero around zero.</source>
        <translation>输入减去其 tanh：x - tanh(x)，在零附近几乎为零。</translation>
    </message>
    <message>
        <source>The input mirrored at its edge, without repeating the edge</source>
        <translation>输入在边缘处镜像，不重复边缘</translation>
    </message>
    <message>
        <source>The lags of a validation or test window may lie in the split before</source>
        <translation>验证或测试窗的滞后可位于前一个拆分中</translation>
    </message>
    <message>
        <source>The largest</source>
        <translation>最大者</translation>
    </message>
    <message>
        <source>The largest absolute difference</source>
        <translation>最大的绝对差</translation>
    </message>
    <message>
        <source>The last steps of a time series predict the next one.</source>
        <translation>用时间序列的最近若干时间步预测下一步。</translation>
    </message>
    <message>
        <source>The length of a vector: the root of the summed squares</source>
        <translation>向量的长度：平方和的根</translation>
    </message>
    <message>
        <source>The logarithm of a sigmoid, without overflow: -ln(1 + exp(-x)).</source>
        <translation>sigmoid 的对数，不会溢出：-ln(1 + exp(-x))。</translation>
    </message>
    <message>
        <source>The logarithm of a softmax over the channels: x - ln sum exp(x).</source>
        <translation>沿通道的 softmax 的对数：x - ln sum exp(x)。</translation>
    </message>
    <message>
        <source>The mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>The mean of the vectors</source>
        <translation>各向量的均值</translation>
    </message>
    <message>
        <source>The mean squared distance from the mean, divided by the count</source>
        <translation>与均值之差的平方的均值，除以个数</translation>
    </message>
    <message>
        <source>The most frequent category of the training rows</source>
        <translation>训练行中最常见的类别</translation>
    </message>
    <message>
        <source>The natural logarithm of the magnitude</source>
        <translation>幅值的自然对数</translation>
    </message>
    <message>
        <source>The natural logarithm of the power</source>
        <translation>功率的自然对数</translation>
    </message>
    <message>
        <source>The nearest position</source>
        <translation>最近的位置</translation>
    </message>
    <message>
        <source>The nearest whole number, halves to the even one</source>
        <translation>最近的整数，一半时取偶数</translation>
    </message>
    <message>
        <source>The next sample of the split that can be read stands in, with its own target</source>
        <translation>由该拆分中下一个可读取的样本代替，并采用其自身的目标</translation>
    </message>
    <message>
        <source>The next token</source>
        <translation>下一个词元</translation>
    </message>
    <message>
        <source>The next whole number below</source>
        <translation>不大于它的最大整数</translation>
    </message>
    <message>
        <source>The norm of all gradients at every step from now on, as a plot</source>
        <translation>从现在起，在每一步绘制所有梯度的范数</translation>
    </message>
    <message>
        <source>The number of the step, from 0</source>
        <translation>时间步的编号，从 0 起</translation>
    </message>
    <message>
        <source>The numbers below, such as those that a trained network was made with</source>
        <translation>下方的数值，例如训练该网络时所用的数值</translation>
    </message>
    <message>
        <source>The operators in it, where it is several that only stay together</source>
        <translation>由几个只能在一起的运算符组成时，其中的运算符</translation>
    </message>
    <message>
        <source>The output after the last step, features</source>
        <translation>最后一个时间步之后的输出，为特征</translation>
    </message>
    <message>
        <source>The output of every step, a sequence</source>
        <translation>每个时间步的输出，为序列</translation>
    </message>
    <message>
        <source>The page about what has the focus</source>
        <translation>打开与当前焦点有关的手册页</translation>
    </message>
    <message>
        <source>The pages before they are printed</source>
        <translation>打印前查看各页</translation>
    </message>
    <message>
        <source>The parts of calendar and elapsed, as far as the dates have them</source>
        <translation>calendar 和 elapsed 的各部分，取日期所具有者</translation>
    </message>
    <message>
        <source>The plain recurrent layer of Elman: each step mixes its input with the previous state.</source>
        <translation>Elman 的普通循环层：每个时间步将其输入与前一状态混合。</translation>
    </message>
    <message>
        <source>The positions of a channel are adjacent: channel · block + position</source>
        <translation>同一通道的位置相邻：通道 · 块 + 位置</translation>
    </message>
    <message>
        <source>The real part alone</source>
        <translation>仅实部</translation>
    </message>
    <message>
        <source>The response for tables and folders of classes, the next token for one file</source>
        <translation>表格和类别文件夹预测响应，单个文件预测下一个词元</translation>
    </message>
    <message>
        <source>The root of the summed squares</source>
        <translation>平方和的根</translation>
    </message>
    <message>
        <source>The rows of a table, one per trial</source>
        <translation>表格的行，每次试验一行</translation>
    </message>
    <message>
        <source>The run ends and names the layer</source>
        <translation>运行结束并给出该层</translation>
    </message>
    <message>
        <source>The run ends with an error that names the sample</source>
        <translation>运行以错误结束并给出该样本</translation>
    </message>
    <message>
        <source>The run is kept as a checkpoint on disk: its processes end, Resume starts them again</source>
        <translation>运行作为检查点保留在磁盘上：其进程结束，“继续”会重新启动它们</translation>
    </message>
    <message>
        <source>The run waits as a checkpoint on disk: its processes end, Resume starts them again</source>
        <translation>运行以检查点的形式在磁盘上等待：其进程结束，“继续”会重新启动它们</translation>
    </message>
    <message>
        <source>The samples, from -1 to 1</source>
        <translation>采样值，从 -1 到 1</translation>
    </message>
    <message>
        <source>The size of a second input, ref, whose values are not used</source>
        <translation>第二个输入 ref 的大小，不使用其值</translation>
    </message>
    <message>
        <source>The size of another input, whose values are not used</source>
        <translation>另一输入的大小，不使用其值</translation>
    </message>
    <message>
        <source>The smallest</source>
        <translation>最小者</translation>
    </message>
    <message>
        <source>The square of what is positive, zero otherwise: max(0, x)².</source>
        <translation>正数的平方，否则为零：max(0, x)²。</translation>
    </message>
    <message>
        <source>The step is skipped, up to a hundred in a row</source>
        <translation>跳过该步，最多连续一百次</translation>
    </message>
    <message>
        <source>The steps since the project was opened: a click goes back or forward to one</source>
        <translation>自项目打开以来的各个步骤：单击可后退或前进到某一步</translation>
    </message>
    <message>
        <source>The sum</source>
        <translation>总和</translation>
    </message>
    <message>
        <source>The sum of the vectors</source>
        <translation>各向量之和</translation>
    </message>
    <message>
        <source>The summed absolute differences</source>
        <translation>绝对差之和</translation>
    </message>
    <message>
        <source>The summed squares, without the root</source>
        <translation>平方和，不开根</translation>
    </message>
    <message>
        <source>The tokens of a tokenizer.json</source>
        <translation>tokenizer.json 的词元</translation>
    </message>
    <message>
        <source>The trials of the strategy table: a value by path in each row</source>
        <translation>策略表中的试验：每行按路径给出一个值</translation>
    </message>
    <message>
        <source>The units that texts are cut into</source>
        <translation>文本被切分成的单位</translation>
    </message>
    <message>
        <source>The values below, for all channels</source>
        <translation>下方的值，用于所有通道</translation>
    </message>
    <message>
        <source>The values from the opposite end, as in a ring</source>
        <translation>取自对侧的值，如同环形</translation>
    </message>
    <message>
        <source>The weights of each head, at a second port</source>
        <translation>每个头的权重，从第二个端口输出</translation>
    </message>
    <message>
        <source>The whole axis repeatedly: 1 2 1 2</source>
        <translation>整个轴重复：1 2 1 2</translation>
    </message>
    <message>
        <source>The whole network as PNG, SVG or PDF</source>
        <translation>将整个网络保存为 PNG、SVG 或 PDF</translation>
    </message>
    <message>
        <source>The whole network, fitted on pages</source>
        <translation>打印整个网络，使其适合页面</translation>
    </message>
    <message>
        <source>Their mean over the heads, at a second port</source>
        <translation>各头的均值，从第二个端口输出</translation>
    </message>
    <message>
        <source>They belong to the class of the folder at the first level</source>
        <translation>它们属于第一级文件夹的类别</translation>
    </message>
    <message>
        <source>Thirteen 3 × 3 convolutions in sequence.</source>
        <translation>十三个依次排列的 3 × 3 卷积层。</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Threads per worker</source>
        <translation>每个工作单元的线程数</translation>
    </message>
    <message>
        <source>Precision over recall</source>
        <translation>精确率-召回率曲线</translation>
    </message>
    <message>
        <source>drawn steps</source>
        <translation>所绘为时间步</translation>
    </message>
    <message>
        <source>drawn pixels</source>
        <translation>所绘为像素</translation>
    </message>
    <message>
        <source>Right</source>
        <comment>count</comment>
        <translation>正确检出</translation>
    </message>
    <message>
        <source>False alarms</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Missed</source>
        <translation>漏检</translation>
    </message>
    <message>
        <source>Rightly left out</source>
        <translation>正确排除</translation>
    </message>
    <message>
        <source>{kind} of {name}</source>
        <translation>{name} 的{kind}</translation>
    </message>
    <message>
        <source>of the others said</source>
        <translation>其他样本的误报比例</translation>
    </message>
    <message>
        <source>recall</source>
        <translation>召回率</translation>
    </message>
    <message>
        <source>{share} false alarms</source>
        <translation>误报 {share}</translation>
    </message>
    <message>
        <source>{share} recall</source>
        <translation>召回率 {share}</translation>
    </message>
    <message>
        <source>{share} precision</source>
        <translation>精确率 {share}</translation>
    </message>
    <message>
        <source>At the threshold</source>
        <translation>在该阈值处</translation>
    </message>
    <message>
        <source>Threshold</source>
        <translation>阈值</translation>
    </message>
    <message>
        <source>{name}: area {area}</source>
        <translation>{name}：面积 {area}</translation>
    </message>
    <message>
        <source>Class of the curve</source>
        <translation>曲线的类别</translation>
    </message>
    <message>
        <source>Kind of curve</source>
        <translation>曲线的种类</translation>
    </message>
    <message>
        <source>average precision {average}, {positives:,} of the class, {negatives:,} others</source>
        <translation>平均精确率 {average}，{positives:,} 个属于该类别，{negatives:,} 个不属于</translation>
    </message>
    <message>
        <source>{name} from {threshold} on</source>
        <translation>从 {threshold} 起判为 {name}</translation>
    </message>
    <message>
        <source>{text}, stored: {threshold}</source>
        <translation>{text}，已存储：{threshold}</translation>
    </message>
    <message>
        <source>Time after which Slurm ends a job</source>
        <translation>Slurm 结束作业前的时间</translation>
    </message>
    <message>
        <source>Time after which no trial is started</source>
        <translation>超过该时间后不再开始试验</translation>
    </message>
    <message>
        <source>Time at which the training samples are shuffled</source>
        <translation>打乱训练样本的时机</translation>
    </message>
    <message>
        <source>Time column</source>
        <translation>时间列</translation>
    </message>
    <message>
        <source>Time from one window to the next</source>
        <translation>从一个窗到下一个窗的时间</translation>
    </message>
    <message>
        <source>Time limit</source>
        <translation>时间限制</translation>
    </message>
    <message>
        <source>Time limit unit</source>
        <translation>时间限制单位</translation>
    </message>
    <message>
        <source>Time of the input</source>
        <translation>输入的时刻</translation>
    </message>
    <message>
        <source>Time of the output</source>
        <translation>输出的时刻</translation>
    </message>
    <message>
        <source>Time series</source>
        <translation>时间序列</translation>
    </message>
    <message>
        <source>Time shift</source>
        <translation>时移</translation>
    </message>
    <message>
        <source>Time-bandwidth product</source>
        <translation>时间带宽积</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>倍数</translation>
    </message>
    <message>
        <source>To</source>
        <translation>到</translation>
    </message>
    <message>
        <source>To the nearest position, halves up</source>
        <translation>到最近的位置，一半时向上取</translation>
    </message>
    <message>
        <source>Token file</source>
        <translation>令牌文件</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>分词器</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Tokens from the beginning of one block to that of the next</source>
        <translation>从一个块的开头到下一个块的开头的词元数</translation>
    </message>
    <message>
        <source>Tokens of a text that are kept, from its beginning</source>
        <translation>保留的文本词元数，从其开头算起</translation>
    </message>
    <message>
        <source>Tokens per sample where the next token is predicted</source>
        <translation>预测下一个词元时每个样本的词元数</translation>
    </message>
    <message>
        <source>Top, left: first position of the part, from 0</source>
        <translation>上、左：该部分的起始位置，从 0 起</translation>
    </message>
    <message>
        <source>Top-bottom reflection</source>
        <translation>上下翻转</translation>
    </message>
    <message>
        <source>Top-k accuracy</source>
        <translation>前 k 准确度</translation>
    </message>
    <message>
        <source>Top-k accuracy on the validation split</source>
        <translation>验证部分的前 k 准确度</translation>
    </message>
    <message>
        <source>Top-k classes</source>
        <translation>前 k 个类别</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Training step</source>
        <translation>训练步</translation>
    </message>
    <message>
        <source>Transcripts</source>
        <translation>转录文本</translation>
    </message>
    <message>
        <source>Transcripts without alignment</source>
        <translation>未对齐的转录文本</translation>
    </message>
    <message>
        <source>U-Net</source>
        <translation>U-Net</translation>
    </message>
    <message>
        <source>Unit forget gate</source>
        <translation>遗忘门为一</translation>
    </message>
    <message>
        <source>VGG-16</source>
        <translation>VGG-16</translation>
    </message>
    <message>
        <source>Validate now</source>
        <translation>立即验证</translation>
    </message>
    <message>
        <source>Variance</source>
        <translation>方差</translation>
    </message>
    <message>
        <source>ViT-B/16</source>
        <translation>ViT-B/16</translation>
    </message>
    <message>
        <source>Volume</source>
        <translation>体数据</translation>
    </message>
    <message>
        <source>Waves</source>
        <translation>波形</translation>
    </message>
    <message>
        <source>Weak Wolfe</source>
        <translation>弱 Wolfe</translation>
    </message>
    <message>
        <source>Weak trials</source>
        <translation>较弱的试验</translation>
    </message>
    <message>
        <source>Weighted</source>
        <translation>加权</translation>
    </message>
    <message>
        <source>Wheel</source>
        <translation>Wheel 包</translation>
    </message>
    <message>
        <source>Whole</source>
        <translation>整体</translation>
    </message>
    <message>
        <source>Width and height that images are resized to, one number for both: 64 makes images of 64 × 64</source>
        <translation>图像调整到的宽度和高度，也可用一个数表示两者：64 得到 64 × 64 的图像</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>Z-score</source>
        <translation>Z 分数</translation>
    </message>
    <message>
        <source>Zero mean</source>
        <translation>零均值</translation>
    </message>
    <message>
        <source>gradient norm no longer watched</source>
        <translation>不再监视梯度范数</translation>
    </message>
    <message>
        <source>gradient norm watched</source>
        <translation>已监视梯度范数</translation>
    </message>
    <message>
        <source>layers no longer watched</source>
        <translation>不再监视层</translation>
    </message>
    <message>
        <source>layers watched</source>
        <translation>已监视层</translation>
    </message>
    <message>
        <source>learn rate {value}</source>
        <translation>学习率 {value}</translation>
    </message>
    <message>
        <source>min</source>
        <translation>分钟</translation>
    </message>
    <message>
        <source>nodes</source>
        <translation>个节点</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>{title}: no value is finite.</source>
        <translation>{title}：没有有限的值。</translation>
    </message>
    <message>
        <source>{title} in {split}: {value} after iteration {step}, {trend}.</source>
        <translation>{split}的{title}：第 {step} 次迭代后为 {value}，{trend}。</translation>
    </message>
    <message>
        <source>Best {value} after iteration {step}.</source>
        <translation>最佳为 {value}，在第 {step} 次迭代后。</translation>
    </message>
    <message>
        <source>Test {value}.</source>
        <translation>测试为 {value}。</translation>
    </message>
    <message>
        <source>level</source>
        <translation>持平</translation>
    </message>
    <message>
        <source>falling</source>
        <translation>下降</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>上升</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>1-D LP pooling</source>
        <comment>layer</comment>
        <translation>一维 LP 池化层</translation>
    </message>
    <message>
        <source>1-D adaptive average pooling</source>
        <comment>layer</comment>
        <translation>一维自适应平均池化层</translation>
    </message>
    <message>
        <source>1-D adaptive max pooling</source>
        <comment>layer</comment>
        <translation>一维自适应最大池化层</translation>
    </message>
    <message>
        <source>1-D average pooling</source>
        <comment>layer</comment>
        <translation>一维平均池化层</translation>
    </message>
    <message>
        <source>1-D convolution</source>
        <comment>layer</comment>
        <translation>一维卷积层</translation>
    </message>
    <message>
        <source>1-D grouped convolution</source>
        <comment>layer</comment>
        <translation>一维分组卷积层</translation>
    </message>
    <message>
        <source>1-D max pooling</source>
        <comment>layer</comment>
        <translation>一维最大池化层</translation>
    </message>
    <message>
        <source>1-D padding</source>
        <comment>layer</comment>
        <translation>一维填充层</translation>
    </message>
    <message>
        <source>1-D resizing</source>
        <comment>layer</comment>
        <translation>一维调整大小层</translation>
    </message>
    <message>
        <source>1-D spectral convolution</source>
        <comment>layer</comment>
        <translation>一维谱卷积层</translation>
    </message>
    <message>
        <source>1-D transposed convolution</source>
        <comment>layer</comment>
        <translation>转置的一维卷积层</translation>
    </message>
    <message>
        <source>2-D LP pooling</source>
        <comment>layer</comment>
        <translation>二维 LP 池化层</translation>
    </message>
    <message>
        <source>2-D adaptive average pooling</source>
        <comment>layer</comment>
        <translation>二维自适应平均池化层</translation>
    </message>
    <message>
        <source>2-D adaptive max pooling</source>
        <comment>layer</comment>
        <translation>二维自适应最大池化层</translation>
    </message>
    <message>
        <source>2-D average pooling</source>
        <comment>layer</comment>
        <translation>二维平均池化层</translation>
    </message>
    <message>
        <source>2-D convolution</source>
        <comment>layer</comment>
        <translation>二维卷积层</translation>
    </message>
    <message>
        <source>2-D crop</source>
        <comment>layer</comment>
        <translation>二维裁剪层</translation>
    </message>
    <message>
        <source>2-D depth to space</source>
        <comment>layer</comment>
        <translation>二维深度到空间层</translation>
    </message>
    <message>
        <source>2-D fractional max pooling</source>
        <comment>layer</comment>
        <translation>二维分数最大池化层</translation>
    </message>
    <message>
        <source>2-D grouped convolution</source>
        <comment>layer</comment>
        <translation>二维分组卷积层</translation>
    </message>
    <message>
        <source>2-D max pooling</source>
        <comment>layer</comment>
        <translation>二维最大池化层</translation>
    </message>
    <message>
        <source>2-D max unpooling</source>
        <comment>layer</comment>
        <translation>二维最大去池化层</translation>
    </message>
    <message>
        <source>2-D padding</source>
        <comment>layer</comment>
        <translation>二维填充层</translation>
    </message>
    <message>
        <source>2-D resizing</source>
        <comment>layer</comment>
        <translation>二维调整大小层</translation>
    </message>
    <message>
        <source>2-D space to depth</source>
        <comment>layer</comment>
        <translation>二维空间到深度层</translation>
    </message>
    <message>
        <source>2-D spectral convolution</source>
        <comment>layer</comment>
        <translation>二维谱卷积层</translation>
    </message>
    <message>
        <source>2-D transposed convolution</source>
        <comment>layer</comment>
        <translation>转置的二维卷积层</translation>
    </message>
    <message>
        <source>3-D LP pooling</source>
        <comment>layer</comment>
        <translation>三维 LP 池化层</translation>
    </message>
    <message>
        <source>3-D adaptive average pooling</source>
        <comment>layer</comment>
        <translation>三维自适应平均池化层</translation>
    </message>
    <message>
        <source>3-D adaptive max pooling</source>
        <comment>layer</comment>
        <translation>三维自适应最大池化层</translation>
    </message>
    <message>
        <source>3-D average pooling</source>
        <comment>layer</comment>
        <translation>三维平均池化层</translation>
    </message>
    <message>
        <source>3-D convolution</source>
        <comment>layer</comment>
        <translation>三维卷积层</translation>
    </message>
    <message>
        <source>3-D crop</source>
        <comment>layer</comment>
        <translation>三维裁剪层</translation>
    </message>
    <message>
        <source>3-D fractional max pooling</source>
        <comment>layer</comment>
        <translation>三维分数最大池化层</translation>
    </message>
    <message>
        <source>3-D grouped convolution</source>
        <comment>layer</comment>
        <translation>三维分组卷积层</translation>
    </message>
    <message>
        <source>3-D image input</source>
        <comment>layer</comment>
        <translation>三维图像输入层</translation>
    </message>
    <message>
        <source>3-D max pooling</source>
        <comment>layer</comment>
        <translation>三维最大池化层</translation>
    </message>
    <message>
        <source>3-D padding</source>
        <comment>layer</comment>
        <translation>三维填充层</translation>
    </message>
    <message>
        <source>3-D resizing</source>
        <comment>layer</comment>
        <translation>三维调整大小层</translation>
    </message>
    <message>
        <source>3-D spectral convolution</source>
        <comment>layer</comment>
        <translation>三维谱卷积层</translation>
    </message>
    <message>
        <source>3-D transposed convolution</source>
        <comment>layer</comment>
        <translation>转置的三维卷积层</translation>
    </message>
    <message>
        <source>Addition</source>
        <comment>layer</comment>
        <translation>相加层</translation>
    </message>
    <message>
        <source>Alpha dropout</source>
        <comment>layer</comment>
        <translation>Alpha 丢弃层</translation>
    </message>
    <message>
        <source>Arg max</source>
        <comment>layer</comment>
        <translation>最大值索引层</translation>
    </message>
    <message>
        <source>Attention</source>
        <comment>layer</comment>
        <translation>注意力层</translation>
    </message>
    <message>
        <source>Average</source>
        <comment>layer</comment>
        <translation>平均层</translation>
    </message>
    <message>
        <source>Batch normalisation</source>
        <comment>layer</comment>
        <translation>批量归一化层</translation>
    </message>
    <message>
        <source>Bidirectional GRU</source>
        <comment>layer</comment>
        <translation>双向 GRU 层</translation>
    </message>
    <message>
        <source>Bidirectional LSTM</source>
        <comment>layer</comment>
        <translation>双向 LSTM (BiLSTM) 层</translation>
    </message>
    <message>
        <source>Bidirectional RNN</source>
        <comment>layer</comment>
        <translation>双向 RNN 层</translation>
    </message>
    <message>
        <source>Bilinear</source>
        <comment>layer</comment>
        <translation>双线性层</translation>
    </message>
    <message>
        <source>Block</source>
        <comment>layer</comment>
        <translation>模块</translation>
    </message>
    <message>
        <source>Block input</source>
        <comment>layer</comment>
        <translation>模块输入</translation>
    </message>
    <message>
        <source>Block output</source>
        <comment>layer</comment>
        <translation>模块输出</translation>
    </message>
    <message>
        <source>CELU</source>
        <comment>layer</comment>
        <translation>CELU 层</translation>
    </message>
    <message>
        <source>Cast</source>
        <comment>layer</comment>
        <translation>类型转换层</translation>
    </message>
    <message>
        <source>Channel shuffle</source>
        <comment>layer</comment>
        <translation>通道混洗层</translation>
    </message>
    <message>
        <source>Class token</source>
        <comment>layer</comment>
        <translation>类别词元层</translation>
    </message>
    <message>
        <source>Clipped ReLU</source>
        <comment>layer</comment>
        <translation>裁剪 ReLU 层</translation>
    </message>
    <message>
        <source>Complex ReLU</source>
        <comment>layer</comment>
        <translation>复数 ReLU 层</translation>
    </message>
    <message>
        <source>Complex cardioid</source>
        <comment>layer</comment>
        <translation>复数心形激活层</translation>
    </message>
    <message>
        <source>Complex fully connected</source>
        <comment>layer</comment>
        <translation>复数全连接层</translation>
    </message>
    <message>
        <source>Complex to real</source>
        <comment>layer</comment>
        <translation>复数转实数层</translation>
    </message>
    <message>
        <source>Concatenation</source>
        <comment>layer</comment>
        <translation>串联层</translation>
    </message>
    <message>
        <source>Constant</source>
        <comment>layer</comment>
        <translation>常量层</translation>
    </message>
    <message>
        <source>Continuous wavelet transform</source>
        <comment>layer</comment>
        <translation>连续小波变换层</translation>
    </message>
    <message>
        <source>Cosine similarity</source>
        <comment>layer</comment>
        <translation>余弦相似度层</translation>
    </message>
    <message>
        <source>Cross-channel normalisation</source>
        <comment>layer</comment>
        <translation>跨通道归一化层</translation>
    </message>
    <message>
        <source>Cumulative sum</source>
        <comment>layer</comment>
        <translation>累积和层</translation>
    </message>
    <message>
        <source>Custom layer</source>
        <comment>layer</comment>
        <translation>自定义层</translation>
    </message>
    <message>
        <source>Distance</source>
        <comment>layer</comment>
        <translation>距离层</translation>
    </message>
    <message>
        <source>Division</source>
        <comment>layer</comment>
        <translation>相除层</translation>
    </message>
    <message>
        <source>Dot product</source>
        <comment>layer</comment>
        <translation>点积层</translation>
    </message>
    <message>
        <source>Drop path</source>
        <comment>layer</comment>
        <translation>随机深度层</translation>
    </message>
    <message>
        <source>Dropout</source>
        <comment>layer</comment>
        <translation>丢弃层</translation>
    </message>
    <message>
        <source>ELU</source>
        <comment>layer</comment>
        <translation>ELU 层</translation>
    </message>
    <message>
        <source>Einstein sum</source>
        <comment>layer</comment>
        <translation>爱因斯坦求和层</translation>
    </message>
    <message>
        <source>Embedding</source>
        <comment>layer</comment>
        <translation>嵌入层</translation>
    </message>
    <message>
        <source>Embedding bag</source>
        <comment>layer</comment>
        <translation>嵌入袋层</translation>
    </message>
    <message>
        <source>Fake quantisation</source>
        <comment>layer</comment>
        <translation>伪量化层</translation>
    </message>
    <message>
        <source>Feature alpha dropout</source>
        <comment>layer</comment>
        <translation>特征 Alpha 丢弃层</translation>
    </message>
    <message>
        <source>Feature input</source>
        <comment>layer</comment>
        <translation>特征输入层</translation>
    </message>
    <message>
        <source>Flatten</source>
        <comment>layer</comment>
        <translation>扁平化层</translation>
    </message>
    <message>
        <source>Flip</source>
        <comment>layer</comment>
        <translation>翻转层</translation>
    </message>
    <message>
        <source>Fold</source>
        <comment>layer</comment>
        <translation>折叠层</translation>
    </message>
    <message>
        <source>Fully connected</source>
        <comment>layer</comment>
        <translation>全连接层</translation>
    </message>
    <message>
        <source>Function</source>
        <comment>layer</comment>
        <translation>函数层</translation>
    </message>
    <message>
        <source>GEGLU</source>
        <comment>layer</comment>
        <translation>GEGLU 层</translation>
    </message>
    <message>
        <source>GELU</source>
        <comment>layer</comment>
        <translation>GELU 层</translation>
    </message>
    <message>
        <source>GLU</source>
        <comment>layer</comment>
        <translation>GLU 层</translation>
    </message>
    <message>
        <source>GRU</source>
        <comment>layer</comment>
        <translation>GRU 层</translation>
    </message>
    <message>
        <source>Gaussian noise</source>
        <comment>layer</comment>
        <translation>高斯噪声层</translation>
    </message>
    <message>
        <source>Global average pooling</source>
        <comment>layer</comment>
        <translation>全局平均池化层</translation>
    </message>
    <message>
        <source>Global max pooling</source>
        <comment>layer</comment>
        <translation>全局最大池化层</translation>
    </message>
    <message>
        <source>Group normalisation</source>
        <comment>layer</comment>
        <translation>组归一化层</translation>
    </message>
    <message>
        <source>Grouped-query attention</source>
        <comment>layer</comment>
        <translation>分组查询注意力层</translation>
    </message>
    <message>
        <source>Hard shrinkage</source>
        <comment>layer</comment>
        <translation>硬收缩层</translation>
    </message>
    <message>
        <source>Hard sigmoid</source>
        <comment>layer</comment>
        <translation>硬 sigmoid 层</translation>
    </message>
    <message>
        <source>Hard swish</source>
        <comment>layer</comment>
        <translation>硬 swish 层</translation>
    </message>
    <message>
        <source>Hard tanh</source>
        <comment>layer</comment>
        <translation>硬双曲正切层</translation>
    </message>
    <message>
        <source>Identity</source>
        <comment>layer</comment>
        <translation>恒等层</translation>
    </message>
    <message>
        <source>Image input</source>
        <comment>layer</comment>
        <translation>图像输入层</translation>
    </message>
    <message>
        <source>Image to sequence</source>
        <comment>layer</comment>
        <translation>图像转序列层</translation>
    </message>
    <message>
        <source>Image to volume</source>
        <comment>layer</comment>
        <translation>图像转体数据层</translation>
    </message>
    <message>
        <source>Instance normalisation</source>
        <comment>layer</comment>
        <translation>实例归一化层</translation>
    </message>
    <message>
        <source>Inverse continuous wavelet transform</source>
        <comment>layer</comment>
        <translation>逆连续小波变换层</translation>
    </message>
    <message>
        <source>Inverse normalisation</source>
        <comment>layer</comment>
        <translation>逆归一化层</translation>
    </message>
    <message>
        <source>Inverse short-time Fourier transform</source>
        <comment>layer</comment>
        <translation>逆短时傅里叶变换层</translation>
    </message>
    <message>
        <source>LSTM</source>
        <comment>layer</comment>
        <translation>LSTM 层</translation>
    </message>
    <message>
        <source>Layer normalisation</source>
        <comment>layer</comment>
        <translation>层归一化层</translation>
    </message>
    <message>
        <source>Leaky ReLU</source>
        <comment>layer</comment>
        <translation>泄漏 ReLU 层</translation>
    </message>
    <message>
        <source>Learned parameter</source>
        <comment>layer</comment>
        <translation>可学习参数层</translation>
    </message>
    <message>
        <source>Learned scale</source>
        <comment>layer</comment>
        <translation>可学习缩放层</translation>
    </message>
    <message>
        <source>Log-sigmoid</source>
        <comment>layer</comment>
        <translation>对数 sigmoid 层</translation>
    </message>
    <message>
        <source>Log-softmax</source>
        <comment>layer</comment>
        <translation>对数 softmax 层</translation>
    </message>
    <message>
        <source>Math function</source>
        <comment>layer</comment>
        <translation>数学函数层</translation>
    </message>
    <message>
        <source>Matrix product</source>
        <comment>layer</comment>
        <translation>矩阵乘积层</translation>
    </message>
    <message>
        <source>Maximal overlap wavelet transform</source>
        <comment>layer</comment>
        <translation>最大重叠小波变换层</translation>
    </message>
    <message>
        <source>Maximum</source>
        <comment>layer</comment>
        <translation>最大值层</translation>
    </message>
    <message>
        <source>Minimum</source>
        <comment>layer</comment>
        <translation>最小值层</translation>
    </message>
    <message>
        <source>Mish</source>
        <comment>layer</comment>
        <translation>Mish 层</translation>
    </message>
    <message>
        <source>Multi-head attention</source>
        <comment>layer</comment>
        <translation>多头注意力层</translation>
    </message>
    <message>
        <source>Multiplication</source>
        <comment>layer</comment>
        <translation>相乘层</translation>
    </message>
    <message>
        <source>Neural ODE</source>
        <comment>layer</comment>
        <translation>神经 ODE 层</translation>
    </message>
    <message>
        <source>ONNX operator</source>
        <comment>layer</comment>
        <translation>ONNX 运算符</translation>
    </message>
    <message>
        <source>One-hot</source>
        <comment>layer</comment>
        <translation>独热编码层</translation>
    </message>
    <message>
        <source>PReLU</source>
        <comment>layer</comment>
        <translation>PReLU 层</translation>
    </message>
    <message>
        <source>Patch embedding</source>
        <comment>layer</comment>
        <translation>图像块嵌入层</translation>
    </message>
    <message>
        <source>Peephole LSTM</source>
        <comment>layer</comment>
        <translation>窥视孔 LSTM 层</translation>
    </message>
    <message>
        <source>Permute</source>
        <comment>layer</comment>
        <translation>置换层</translation>
    </message>
    <message>
        <source>Position embedding</source>
        <comment>layer</comment>
        <translation>位置嵌入层</translation>
    </message>
    <message>
        <source>Power</source>
        <comment>layer</comment>
        <translation>幂层</translation>
    </message>
    <message>
        <source>Projected GRU</source>
        <comment>layer</comment>
        <translation>投影 GRU 层</translation>
    </message>
    <message>
        <source>Projected LSTM</source>
        <comment>layer</comment>
        <translation>投影 LSTM 层</translation>
    </message>
    <message>
        <source>Quadratic</source>
        <comment>layer</comment>
        <translation>二次层</translation>
    </message>
    <message>
        <source>RMS normalisation</source>
        <comment>layer</comment>
        <translation>RMS 归一化层</translation>
    </message>
    <message>
        <source>RNN</source>
        <comment>layer</comment>
        <translation>RNN 层</translation>
    </message>
    <message>
        <source>Randomized ReLU</source>
        <comment>layer</comment>
        <translation>随机化 ReLU 层</translation>
    </message>
    <message>
        <source>ReLU</source>
        <comment>layer</comment>
        <translation>ReLU 层</translation>
    </message>
    <message>
        <source>Real to complex</source>
        <comment>layer</comment>
        <translation>实数转复数层</translation>
    </message>
    <message>
        <source>Reduction</source>
        <comment>layer</comment>
        <translation>归约层</translation>
    </message>
    <message>
        <source>Repeat</source>
        <comment>layer</comment>
        <translation>重复层</translation>
    </message>
    <message>
        <source>Repeat vector</source>
        <comment>layer</comment>
        <translation>重复向量层</translation>
    </message>
    <message>
        <source>Reshape</source>
        <comment>layer</comment>
        <translation>重构层</translation>
    </message>
    <message>
        <source>Roll</source>
        <comment>layer</comment>
        <translation>滚动层</translation>
    </message>
    <message>
        <source>SELU</source>
        <comment>layer</comment>
        <translation>SELU 层</translation>
    </message>
    <message>
        <source>Scaling</source>
        <comment>layer</comment>
        <translation>缩放层</translation>
    </message>
    <message>
        <source>Select step</source>
        <comment>layer</comment>
        <translation>选择时间步层</translation>
    </message>
    <message>
        <source>Self-attention</source>
        <comment>layer</comment>
        <translation>自注意力层</translation>
    </message>
    <message>
        <source>Sequence input</source>
        <comment>layer</comment>
        <translation>序列输入层</translation>
    </message>
    <message>
        <source>Sequence to image</source>
        <comment>layer</comment>
        <translation>序列转图像层</translation>
    </message>
    <message>
        <source>Short-time Fourier transform</source>
        <comment>layer</comment>
        <translation>短时傅里叶变换层</translation>
    </message>
    <message>
        <source>Sigmoid</source>
        <comment>layer</comment>
        <translation>Sigmoid 层</translation>
    </message>
    <message>
        <source>Sinusoidal position encoding</source>
        <comment>layer</comment>
        <translation>正弦位置编码层</translation>
    </message>
    <message>
        <source>Slice</source>
        <comment>layer</comment>
        <translation>切片层</translation>
    </message>
    <message>
        <source>Soft shrinkage</source>
        <comment>layer</comment>
        <translation>软收缩层</translation>
    </message>
    <message>
        <source>Softmax</source>
        <comment>layer</comment>
        <translation>Softmax 层</translation>
    </message>
    <message>
        <source>Softmin</source>
        <comment>layer</comment>
        <translation>Softmin 层</translation>
    </message>
    <message>
        <source>Softplus</source>
        <comment>layer</comment>
        <translation>Softplus 层</translation>
    </message>
    <message>
        <source>Softsign</source>
        <comment>layer</comment>
        <translation>Softsign 层</translation>
    </message>
    <message>
        <source>Spatial dropout</source>
        <comment>layer</comment>
        <translation>空间丢弃层</translation>
    </message>
    <message>
        <source>Split</source>
        <comment>layer</comment>
        <translation>拆分层</translation>
    </message>
    <message>
        <source>Squared ReLU</source>
        <comment>layer</comment>
        <translation>平方 ReLU 层</translation>
    </message>
    <message>
        <source>Stack</source>
        <comment>layer</comment>
        <translation>堆叠层</translation>
    </message>
    <message>
        <source>Stop gradient</source>
        <comment>layer</comment>
        <translation>停止梯度层</translation>
    </message>
    <message>
        <source>Subtraction</source>
        <comment>layer</comment>
        <translation>相减层</translation>
    </message>
    <message>
        <source>SwiGLU</source>
        <comment>layer</comment>
        <translation>SwiGLU 层</translation>
    </message>
    <message>
        <source>Swish (SiLU)</source>
        <comment>layer</comment>
        <translation>Swish (SiLU) 层</translation>
    </message>
    <message>
        <source>Tanh</source>
        <comment>layer</comment>
        <translation>双曲正切层</translation>
    </message>
    <message>
        <source>Tanh shrinkage</source>
        <comment>layer</comment>
        <translation>双曲正切收缩层</translation>
    </message>
    <message>
        <source>Threshold</source>
        <comment>layer</comment>
        <translation>阈值</translation>
    </message>
    <message>
        <source>Transformer</source>
        <comment>layer</comment>
        <translation>变换器层</translation>
    </message>
    <message>
        <source>Transformer decoder layer</source>
        <comment>layer</comment>
        <translation>变换器解码器层</translation>
    </message>
    <message>
        <source>Transformer encoder layer</source>
        <comment>layer</comment>
        <translation>变换器编码器层</translation>
    </message>
    <message>
        <source>Unfold</source>
        <comment>layer</comment>
        <translation>展开层</translation>
    </message>
    <message>
        <source>Volume to image</source>
        <comment>layer</comment>
        <translation>体数据转图像层</translation>
    </message>
    <message>
        <source>Volume to sequence</source>
        <comment>layer</comment>
        <translation>体数据转序列层</translation>
    </message>
    <message>
        <source>Where</source>
        <comment>layer</comment>
        <translation>条件选择层</translation>
    </message>
    <message>
        <source>modReLU</source>
        <comment>layer</comment>
        <translation>modReLU 层</translation>
    </message>
    <message>
        <source>zReLU</source>
        <comment>layer</comment>
        <translation>zReLU 层</translation>
    </message>
    <message>
        <source>Translation down</source>
        <translation>向下平移</translation>
    </message>
    <message>
        <source>Arrange as</source>
        <translation>排列方式</translation>
    </message>
    <message>
        <source>Arrays (*.npz *.npy *.safetensors *.h5 *.hdf5 *.hdf *.mat *-ubyte *-ubyte.gz *_batch*.bin train.bin test.bin)</source>
        <translation>数组 (*.npz *.npy *.safetensors *.h5 *.hdf5 *.hdf *.mat *-ubyte *-ubyte.gz *_batch*.bin train.bin test.bin)</translation>
    </message>
    <message>
        <source>Autoencoder</source>
        <translation>自编码器</translation>
    </message>
    <message>
        <source>Beep when a run ends</source>
        <translation>运行结束时发出提示音</translation>
    </message>
    <message>
        <source>Classifies a sequence with an LSTM.</source>
        <translation>用 LSTM 对序列分类。</translation>
    </message>
    <message>
        <source>Classifies signals with several channels.</source>
        <translation>对多通道信号分类。</translation>
    </message>
    <message>
        <source>Compare solvers, each with three learn rates</source>
        <translation>比较求解器，每个采用三个学习率</translation>
    </message>
    <message>
        <source>Compare with…</source>
        <translation>与其他项目比较…</translation>
    </message>
    <message>
        <source>Explain…</source>
        <translation>解释…</translation>
    </message>
    <message>
        <source>Freeze up to the selected layer</source>
        <translation>冻结到所选层</translation>
    </message>
    <message>
        <source>It and all layers that lead to it keep their weights</source>
        <translation>该层及通向它的所有层保持其权重</translation>
    </message>
    <message>
        <source>LSTM classifier</source>
        <translation>LSTM 分类网络</translation>
    </message>
    <message>
        <source>LSTM forecaster</source>
        <translation>LSTM 预测网络</translation>
    </message>
    <message>
        <source>Rows of a table</source>
        <translation>表格的行</translation>
    </message>
    <message>
        <source>Run to the end</source>
        <translation>运行到结束</translation>
    </message>
    <message>
        <source>SSH</source>
        <translation>SSH</translation>
    </message>
    <message>
        <source>Sizes, parameters, FLOPs and memory of all layers, as CSV</source>
        <translation>将所有层的大小、参数、FLOP 数和内存导出为 CSV</translation>
    </message>
    <message>
        <source>Sizes, parameters, FLOPs and memory of each layer</source>
        <translation>每层的大小、参数、FLOP 数和内存</translation>
    </message>
    <message>
        <source>Slurm</source>
        <translation>Slurm</translation>
    </message>
    <message>
        <source>Sobol sequence</source>
        <translation>Sobol 序列</translation>
    </message>
    <message>
        <source>Software</source>
        <translation>软件</translation>
    </message>
    <message>
        <source>SqueezeNet 1.1</source>
        <translation>SqueezeNet 1.1</translation>
    </message>
    <message>
        <source>Stop below the median</source>
        <translation>低于中位数时停止</translation>
    </message>
    <message>
        <source>Stop now; what was learned is kept</source>
        <translation>立即停止；保留已学到的内容</translation>
    </message>
    <message>
        <source>Stop when this epoch is complete</source>
        <translation>在本轮完成时停止</translation>
    </message>
    <message>
        <source>That of the best validation if there is a validation split</source>
        <translation>有验证部分时为最佳验证的网络</translation>
    </message>
    <message>
        <source>Tour</source>
        <translation>教程</translation>
    </message>
    <message>
        <source>Train the project as it is now: after the current run, or at once if there is none</source>
        <translation>按现状训练项目：在当前运行之后，如果没有运行则立即开始</translation>
    </message>
    <message>
        <source>Translation to the right</source>
        <translation>向右平移</translation>
    </message>
    <message>
        <source>Transpose first</source>
        <translation>转置第一个</translation>
    </message>
    <message>
        <source>Transpose second</source>
        <translation>转置第二个</translation>
    </message>
    <message>
        <source>Trials</source>
        <translation>试验</translation>
    </message>
    <message>
        <source>Trials at once</source>
        <translation>同时进行的试验</translation>
    </message>
    <message>
        <source>Trials at the same time</source>
        <translation>同时进行的试验数</translation>
    </message>
    <message>
        <source>Trials per GPU</source>
        <translation>每个 GPU 的试验数</translation>
    </message>
    <message>
        <source>Trials that share a GPU</source>
        <translation>共用一个 GPU 的试验数</translation>
    </message>
    <message>
        <source>Trust the project&apos;s code…</source>
        <translation>信任项目的代码…</translation>
    </message>
    <message>
        <source>Tune for me…</source>
        <translation>自动调优…</translation>
    </message>
    <message>
        <source>Tune the learn rate: 7 values by a logarithmic range</source>
        <translation>调节学习率：对数范围内的 7 个值</translation>
    </message>
    <message>
        <source>Turns normalised numbers back into units, such as at the end of a regression.</source>
        <translation>将归一化的数值变回原单位，例如用于回归的末端。</translation>
    </message>
    <message>
        <source>Turns one axis round: the last place becomes the first.</source>
        <translation>将一个轴反转：最后的位置变为第一个。</translation>
    </message>
    <message>
        <source>Turns scores into probabilities over the channels: exp(x) / sum exp(x).</source>
        <translation>沿通道将分数变为概率：exp(x) / sum exp(x)。</translation>
    </message>
    <message>
        <source>Two GRUs that read the sequence forwards and backwards; their outputs are concatenated.</source>
        <translation>正向和反向读取序列的两个 GRU；其输出串联在一起。</translation>
    </message>
    <message>
        <source>Two LSTMs that read the sequence forwards and backwards; their outputs are concatenated.</source>
        <translation>正向和反向读取序列的两个 LSTM；其输出串联在一起。</translation>
    </message>
    <message>
        <source>Two channels</source>
        <translation>两个声道</translation>
    </message>
    <message>
        <source>Two plain recurrent layers that read the sequence forwards and backwards; their outputs are concatenated.</source>
        <translation>正向和反向读取序列的两个普通循环层；其输出串联在一起。</translation>
    </message>
    <message>
        <source>Two steps: jumps</source>
        <translation>两个时间步：跳变</translation>
    </message>
    <message>
        <source>UTF-16</source>
        <translation>UTF-16</translation>
    </message>
    <message>
        <source>UTF-8</source>
        <translation>UTF-8</translation>
    </message>
    <message>
        <source>UTF-8 or UTF-16 where the bytes are that, else Windows-1252</source>
        <translation>字节符合时为 UTF-8 或 UTF-16，否则为 Windows-1252</translation>
    </message>
    <message>
        <source>Undo history</source>
        <translation>撤销历史记录</translation>
    </message>
    <message>
        <source>Uniform parts, with variance 2 / (inputs + outputs) of the complex number</source>
        <translation>两部分为均匀分布，复数的方差为 2 / (输入数 + 输出数)</translation>
    </message>
    <message>
        <source>Uniform with variance 2 / (inputs + outputs), which preserves the scale of signals and gradients</source>
        <translation>方差为 2 / (输入数 + 输出数) 的均匀分布，保持信号和梯度的尺度</translation>
    </message>
    <message>
        <source>Unit of the time limit</source>
        <translation>时间限制的单位</translation>
    </message>
    <message>
        <source>Unit of the validation frequency</source>
        <translation>验证频率的单位</translation>
    </message>
    <message>
        <source>Units between two checkpoints</source>
        <translation>两个检查点之间的单位数</translation>
    </message>
    <message>
        <source>Upper limit of the output</source>
        <translation>输出的上限</translation>
    </message>
    <message>
        <source>Upper slope</source>
        <translation>上侧斜率</translation>
    </message>
    <message>
        <source>Use of an incomplete last batch</source>
        <translation>不完整的最后一个批量的用法</translation>
    </message>
    <message>
        <source>Uses only deterministic algorithms</source>
        <translation>仅使用确定性算法</translation>
    </message>
    <message>
        <source>Utility</source>
        <translation>实用工具</translation>
    </message>
    <message>
        <source>Cluster profiles (*.toml)</source>
        <translation>集群配置文件 (*.toml)</translation>
    </message>
    <message>
        <source>A profile says where a cluster is and what a worker gets. Add one to train beyond this machine.</source>
        <translation>配置文件说明集群的位置以及每个工作单元获得的资源。添加一个即可在本机之外训练。</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>集群</translation>
    </message>
    <message>
        <source>Cluster profiles</source>
        <translation>集群配置文件</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>移除…</translation>
    </message>
    <message>
        <source>Make default</source>
        <translation>设为默认</translation>
    </message>
    <message>
        <source>Projects that name no profile train on this one</source>
        <translation>未指定配置文件的项目使用此配置文件训练</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>A file for others, without the path of a token</source>
        <translation>供他人使用的文件，不含令牌的路径</translation>
    </message>
    <message>
        <source>Validate</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>Validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>{name}  (default)</source>
        <translation>{name}（默认）</translation>
    </message>
    <message>
        <source>this machine</source>
        <translation>此计算机</translation>
    </message>
    <message>
        <source>Ray runs on this machine at {address}: its address is auto.</source>
        <translation>Ray 正在本机的 {address} 上运行：其地址为 auto。</translation>
    </message>
    <message>
        <source>Not saved yet. {reason}</source>
        <translation>尚未保存。{reason}</translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation>已保存。</translation>
    </message>
    <message>
        <source>Remove the cluster profile &apos;{name}&apos;? Runs on it go on.</source>
        <translation>移除集群配置文件“{name}”？其上的运行会继续。</translation>
    </message>
    <message>
        <source>Remove the profile</source>
        <translation>移除配置文件</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Projects that name no profile train on &apos;{name}&apos;.</source>
        <translation>未指定配置文件的项目使用“{name}”训练。</translation>
    </message>
    <message>
        <source>Import cluster profiles</source>
        <translation>导入集群配置文件</translation>
    </message>
    <message>
        <source>Export the cluster profile</source>
        <translation>导出集群配置文件</translation>
    </message>
    <message>
        <source>Written to {path}.</source>
        <translation>已写入 {path}。</translation>
    </message>
    <message>
        <source>Stopped. The results so far are shown.</source>
        <translation>已停止。显示目前的结果。</translation>
    </message>
    <message>
        <source>The engine cannot be started: {reason}.</source>
        <translation>无法启动引擎：{reason}。</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; passed all stages.</source>
        <translation>“{name}”通过了所有阶段。</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; did not pass.</source>
        <translation>“{name}”未通过。</translation>
    </message>
    <message>
        <source>Choose a profile…</source>
        <translation>选择配置文件…</translation>
    </message>
    <message>
        <source>Edit profiles…</source>
        <translation>编辑配置文件…</translation>
    </message>
    <message>
        <source>Validation data</source>
        <translation>验证数据</translation>
    </message>
    <message>
        <source>Validation frequency</source>
        <translation>验证频率</translation>
    </message>
    <message>
        <source>Validation loss, at most the target value</source>
        <translation>验证损失，最多为目标值</translation>
    </message>
    <message>
        <source>Validation loss, lower is better</source>
        <translation>验证损失，越低越好</translation>
    </message>
    <message>
        <source>Validation patience</source>
        <translation>验证耐心值</translation>
    </message>
    <message>
        <source>Validation share</source>
        <translation>验证比例</translation>
    </message>
    <message>
        <source>Validation unit</source>
        <translation>验证单位</translation>
    </message>
    <message>
        <source>Validations without improvement before a drop</source>
        <translation>下降之前没有改进的验证次数</translation>
    </message>
    <message>
        <source>Validations without progress that end the run</source>
        <translation>没有进展即结束运行的验证次数</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>Value channels</source>
        <translation>值通道数</translation>
    </message>
    <message>
        <source>Value in masks and classes that is ignored by the loss and the metrics, such as 255</source>
        <translation>掩码和类别中被损失和度量忽略的值，例如 255</translation>
    </message>
    <message>
        <source>Value of missing numbers, of the training rows</source>
        <translation>缺失数值的取值，来自训练的行</translation>
    </message>
    <message>
        <source>Value of padding that layers see, in the units of the data</source>
        <translation>层所见的填充值，以数据的单位计</translation>
    </message>
    <message>
        <source>Value of pixels outside the image</source>
        <translation>图像之外像素的值</translation>
    </message>
    <message>
        <source>Value of the border</source>
        <translation>边界的值</translation>
    </message>
    <message>
        <source>Value of the output</source>
        <translation>输出的值</translation>
    </message>
    <message>
        <source>Value of the target metric, such as 0.95</source>
        <translation>目标度量的值，例如 0.95</translation>
    </message>
    <message>
        <source>Value that decides patience and the best network</source>
        <translation>决定耐心值和最佳网络的值</translation>
    </message>
    <message>
        <source>Values of the border</source>
        <translation>边界的各值</translation>
    </message>
    <message>
        <source>Values of the padding</source>
        <translation>填充的各值</translation>
    </message>
    <message>
        <source>Values that differ between trials: options, fields of layers (network.conv_1.filters), or whole networks (network=a.netwright,b.netwright)</source>
        <translation>各试验之间不同的值：选项、层的字段 (network.conv_1.filters) 或整个网络 (network=a.netwright,b.netwright)</translation>
    </message>
    <message>
        <source>Vectors alone</source>
        <translation>仅向量</translation>
    </message>
    <message>
        <source>Version of ONNX&apos;s operators that the file uses, 13 to 25</source>
        <translation>文件所用的 ONNX 运算符版本，13 到 25</translation>
    </message>
    <message>
        <source>Version of the operators of the domain</source>
        <translation>该域的运算符的版本</translation>
    </message>
    <message>
        <source>Versions of the domains that subgraphs use, such as com.microsoft 1</source>
        <translation>子图所用各域的版本，例如 com.microsoft 1</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Vocabulary size</source>
        <translation>词汇表大小</translation>
    </message>
    <message>
        <source>Voices per octave</source>
        <translation>每倍频程的音数</translation>
    </message>
    <message>
        <source>Voxels added in front, behind, above, below, left and right</source>
        <translation>在前后上下左右添加的体素数</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>Watch gradient norm</source>
        <translation>监视梯度范数</translation>
    </message>
    <message>
        <source>Watch layers</source>
        <translation>监视层</translation>
    </message>
    <message>
        <source>Watch the gradient norm</source>
        <translation>监视梯度范数</translation>
    </message>
    <message>
        <source>Waveform</source>
        <translation>波形</translation>
    </message>
    <message>
        <source>Wavelet</source>
        <translation>小波</translation>
    </message>
    <message>
        <source>Wavelet of the details</source>
        <translation>细节的小波</translation>
    </message>
    <message>
        <source>WebDataset tar or Parquet files, on disk or behind a URL</source>
        <translation>WebDataset tar 或 Parquet 文件，在磁盘上或由 URL 提供</translation>
    </message>
    <message>
        <source>Webhook when a run ends…</source>
        <translation>运行结束时调用 Webhook…</translation>
    </message>
    <message>
        <source>Weighs complex numbers by their phase: positive reals pass, negative ones become zero.</source>
        <translation>按相位对复数加权：正实数通过，负实数变为零。</translation>
    </message>
    <message>
        <source>Weighs each number by a soft step: x tanh(ln(1 + exp(x))).</source>
        <translation>用平滑的阶跃对每个数加权：x tanh(ln(1 + exp(x)))。</translation>
    </message>
    <message>
        <source>Weighs each number by its sigmoid: x / (1 + exp(-x)). Also called SiLU.</source>
        <translation>用其 sigmoid 对每个数加权：x / (1 + exp(-x))。也称为 SiLU。</translation>
    </message>
    <message>
        <source>Weighs each number by the chance that a normal one is smaller: x Φ(x).</source>
        <translation>用正态随机数小于它的概率对每个数加权：x Φ(x)。</translation>
    </message>
    <message>
        <source>Weight averaging</source>
        <translation>权重平均</translation>
    </message>
    <message>
        <source>Weight decay: factor on weights, not on biases</source>
        <translation>权重衰减：应用于权重而不应用于偏置的因子</translation>
    </message>
    <message>
        <source>Weight of recall relative to precision</source>
        <translation>召回率相对于精确率的权重</translation>
    </message>
    <message>
        <source>Weight of the batch in the running mean and variance</source>
        <translation>当前批量在移动均值和方差中的权重</translation>
    </message>
    <message>
        <source>Weight of the teacher</source>
        <translation>教师的权重</translation>
    </message>
    <message>
        <source>Weight per class, in the order of names: 1, 2.5, 1</source>
        <translation>每个类别的权重，按名称顺序：1, 2.5, 1</translation>
    </message>
    <message>
        <source>Weight per worker: 3, 1 gives the first 3 of 4</source>
        <translation>每个工作单元的权重：3, 1 将 4 个中的前 3 个分给第一个</translation>
    </message>
    <message>
        <source>Weights and activations in 8 bits, calibrated on the validation data</source>
        <translation>权重和激活值为 8 位，用验证数据校准</translation>
    </message>
    <message>
        <source>Weights beside the file</source>
        <translation>文件旁的权重</translation>
    </message>
    <message>
        <source>Weights of matrices and kernels that are zero at the start stay zero, as in a pruned network that is trained on</source>
        <translation>开始时为零的矩阵和核的权重保持为零，例如继续训练剪枝后的网络</translation>
    </message>
    <message>
        <source>Weights of products and LSTM in 8 bits, activations as they come</source>
        <translation>乘积和 LSTM 的权重为 8 位，激活值按实际情况</translation>
    </message>
    <message>
        <source>Weights of the samples (steps, pixels) of each class</source>
        <translation>各类别样本（时间步、像素）的权重</translation>
    </message>
    <message>
        <source>Weights of the steps in a window, periodic</source>
        <translation>窗内时间步的权重，周期性</translation>
    </message>
    <message>
        <source>Weights of the workers</source>
        <translation>各工作单元的权重</translation>
    </message>
    <message>
        <source>Weights that a run starts from: a file of safetensors, a state-dict that torch.save wrote, or the folder of a run, or best or last in it</source>
        <translation>运行的起始权重：safetensors 文件、torch.save 写出的 state-dict，或运行的文件夹，或其中的 best 或 last</translation>
    </message>
    <message>
        <source>What a longer step in the time column means</source>
        <translation>时间列中较长的间隔表示什么</translation>
    </message>
    <message>
        <source>What became of the operators of the imported file, and how close the outputs are</source>
        <translation>所导入文件的运算符转换成了什么，以及输出有多接近</translation>
    </message>
    <message>
        <source>What each level adds to the signal: the rows sum up to it (multiresolution analysis)</source>
        <translation>每一级对信号的贡献：各行之和为信号（多分辨率分析）</translation>
    </message>
    <message>
        <source>What happens to a sample that cannot be read: a damaged file, numbers that are not finite</source>
        <translation>如何处理无法读取的样本：损坏的文件、非有限的数值</translation>
    </message>
    <message>
        <source>What has a response of its own</source>
        <translation>具有各自响应的对象</translation>
    </message>
    <message>
        <source>What in the name of a file is its group: {group} marks it, * is any text, as in {group}_* for p7_003.png, or */{group}/* for a folder</source>
        <translation>文件名中代表组的部分：{group} 标记组，* 为任意文本，例如 p7_003.png 用 {group}_*，文件夹用 */{group}/*</translation>
    </message>
    <message>
        <source>What input arrays of integers with two axes, N T, hold</source>
        <translation>有两个轴 (N T) 的整数输入数组包含的内容</translation>
    </message>
    <message>
        <source>What is compared</source>
        <translation>比较的内容</translation>
    </message>
    <message>
        <source>What is compared: validation.accuracy, validation.loss, parameters, seconds, flops</source>
        <translation>比较的内容：validation.accuracy、validation.loss、parameters、seconds、flops</translation>
    </message>
    <message>
        <source>What is in the file</source>
        <translation>文件中的内容</translation>
    </message>
    <message>
        <source>What is wrong with the project, in order of effect, each with one cure</source>
        <translation>项目有哪些问题，按影响排序，每个问题附一个解决办法</translation>
    </message>
    <message>
        <source>What one sample is where the next token is predicted</source>
        <translation>预测下一个词元时一个样本的内容</translation>
    </message>
    <message>
        <source>What stands first in dates such as 01/02/2024, where no date tells</source>
        <translation>在 01/02/2024 之类无法判断的日期中，何者在前</translation>
    </message>
    <message>
        <source>What the network gets of a sound</source>
        <translation>网络从声音中得到的内容</translation>
    </message>
    <message>
        <source>What the network predicts</source>
        <translation>网络预测的内容</translation>
    </message>
    <message>
        <source>What the network predicts of texts</source>
        <translation>网络对文本预测的内容</translation>
    </message>
    <message>
        <source>What the project learns from: samples, recipe, findings</source>
        <translation>项目学习所用的数据：样本、处理步骤、检查结果</translation>
    </message>
    <message>
        <source>What the reset gate works on</source>
        <translation>重置门作用的对象</translation>
    </message>
    <message>
        <source>What the run that is shown looks at</source>
        <translation>所显示的运行关注的内容</translation>
    </message>
    <message>
        <source>What windows of two splits may share</source>
        <translation>两个拆分的窗可共有的内容</translation>
    </message>
    <message>
        <source>Where samples are kept while the network trains</source>
        <translation>网络训练时样本存放的位置</translation>
    </message>
    <message>
        <source>Whether higher values of the custom metric are better</source>
        <translation>自定义度量的值是否越高越好</translation>
    </message>
    <message>
        <source>Whether layers see the padding of sequences</source>
        <translation>层是否能看到序列的填充</translation>
    </message>
    <message>
        <source>Whether the first trial has the values of the project</source>
        <translation>第一个试验是否采用工程的值</translation>
    </message>
    <message>
        <source>Whether trials that fall behind are stopped, by their validation curves</source>
        <translation>是否按验证曲线停止落后的试验</translation>
    </message>
    <message>
        <source>Whoever calls it normalises, with the numbers in the metadata</source>
        <translation>由调用者归一化，所用数值在元数据中</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Width: side by side</source>
        <translation>宽度：左右排列</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>窗</translation>
    </message>
    <message>
        <source>Window length</source>
        <translation>窗长</translation>
    </message>
    <message>
        <source>Windows at borders</source>
        <translation>边界处的窗</translation>
    </message>
    <message>
        <source>Windows end there</source>
        <translation>窗在此处结束</translation>
    </message>
    <message>
        <source>Windows-1252</source>
        <translation>Windows-1252</translation>
    </message>
    <message>
        <source>Words</source>
        <translation>单词</translation>
    </message>
    <message>
        <source>Words and signs</source>
        <translation>单词和符号</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作单元</translation>
    </message>
    <message>
        <source>Workers on the CPU sum gradients through shared memory instead of gloo</source>
        <translation>CPU 上的工作单元通过共享内存而非 gloo 对梯度求和</translation>
    </message>
    <message>
        <source>Workers train separately and average weights</source>
        <translation>工作单元分别训练并对权重取平均</translation>
    </message>
    <message>
        <source>Year, month, day of the week (Monday is 1), and the hour where the column has times</source>
        <translation>年、月、星期（星期一为 1），列含时间时还有小时</translation>
    </message>
    <message>
        <source>Your own Python function</source>
        <translation>您自己的 Python 函数</translation>
    </message>
    <message>
        <source>Zero point</source>
        <translation>零点</translation>
    </message>
    <message>
        <source>Zeroes numbers around zero, and passes the others as they are: x where |x| &gt; threshold.</source>
        <translation>将零附近的数置零，其余原样通过：|x| &gt; threshold 时为 x。</translation>
    </message>
    <message>
        <source>Zeroes numbers at random while training, and scales the others up by 1 / (1 - probability).</source>
        <translation>训练时随机将数值置零，并将其余数值按 1 / (1 - 概率) 放大。</translation>
    </message>
    <message>
        <source>Zeroes whole channels at random while training, and scales the others up by 1 / (1 - probability).</source>
        <translation>训练时随机将整个通道置零，并将其余通道按 1 / (1 - 概率) 放大。</translation>
    </message>
    <message>
        <source>Zeroes whole samples at random while training, and scales the others up: stochastic depth.</source>
        <translation>训练时随机将整个样本置零，并将其余样本放大：随机深度。</translation>
    </message>
    <message>
        <source>Zeros</source>
        <translation>零</translation>
    </message>
    <message>
        <source>Zeros added on both sides of each axis</source>
        <translation>在每个轴两侧添加的零</translation>
    </message>
    <message>
        <source>Zoom to selection</source>
        <translation>缩放到所选内容</translation>
    </message>
    <message>
        <source>accuracy for classes, rmse for numbers</source>
        <translation>类别为 accuracy，数值为 rmse</translation>
    </message>
    <message>
        <source>adamw with one cycle over 10 epochs</source>
        <translation>adamw，10 轮中一个周期</translation>
    </message>
    <message>
        <source>adamw, warm-up and cosine over 60 epochs, gradients limited, stops when validations get no better</source>
        <translation>adamw，60 轮预热与余弦，限制梯度，验证不再改进时停止</translation>
    </message>
    <message>
        <source>bfloat16 in layers that tolerate it</source>
        <translation>在允许的层中采用 bfloat16</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>位</translation>
    </message>
    <message>
        <source>channels</source>
        <translation>个通道</translation>
    </message>
    <message>
        <source>channels × bands × steps of time</source>
        <translation>通道 × 频带 × 时间步</translation>
    </message>
    <message>
        <source>checkpoint requested</source>
        <translation>已请求检查点</translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation>个检查点</translation>
    </message>
    <message>
        <source>classes</source>
        <translation>个类别</translation>
    </message>
    <message>
        <source>cores</source>
        <translation>个核</translation>
    </message>
    <message>
        <source>cos(x), x in radians</source>
        <translation>cos(x)，x 以弧度计</translation>
    </message>
    <message>
        <source>degrees</source>
        <translation>度</translation>
    </message>
    <message>
        <source>e to the power of x</source>
        <translation>e 的 x 次幂</translation>
    </message>
    <message>
        <source>epochs</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>folds</source>
        <translation>折</translation>
    </message>
    <message>
        <source>h</source>
        <translation>小时</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>次迭代</translation>
    </message>
    <message>
        <source>ln of the sum of exp(x): a smooth maximum</source>
        <translation>exp(x) 之和的对数：平滑的最大值</translation>
    </message>
    <message>
        <source>ln((1 + x) / (1 - x)) / 2, which tanh undoes</source>
        <translation>ln((1 + x) / (1 - x)) / 2，即 tanh 的逆</translation>
    </message>
    <message>
        <source>ln(max(x, epsilon)): the natural logarithm</source>
        <translation>ln(max(x, epsilon))：自然对数</translation>
    </message>
    <message>
        <source>ln(x + √(x² + 1)), which sinh undoes</source>
        <translation>ln(x + √(x² + 1))，即 sinh 的逆</translation>
    </message>
    <message>
        <source>ln(x + √(x² - 1)) of max(x, 1), which cosh undoes</source>
        <translation>ln(x + √(x² - 1))，其中 x 取 max(x, 1)，即 cosh 的逆</translation>
    </message>
    <message>
        <source>max(0, x)</source>
        <translation>max(0, x)</translation>
    </message>
    <message>
        <source>max(0, x), which leaves the state unbounded</source>
        <translation>max(0, x)，状态因此没有界限</translation>
    </message>
    <message>
        <source>memory released</source>
        <translation>内存已释放</translation>
    </message>
    <message>
        <source>moving, as in torch</source>
        <translation>移动统计量，与 torch 相同</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>毫秒</translation>
    </message>
    <message>
        <source>n = tanh(W x + b + R (r · h&apos;)): as the GRU was published first</source>
        <translation>n = tanh(W x + b + R (r · h&apos;))：与最初发表的 GRU 一致</translation>
    </message>
    <message>
        <source>n = tanh(W x + b + r · (R h&apos; + c)), with a bias c of its own: torch&apos;s GRU</source>
        <translation>n = tanh(W x + b + r · (R h&apos; + c))，有单独的偏置 c：torch 的 GRU</translation>
    </message>
    <message>
        <source>n = tanh(W x + b + r · (R h&apos;)): MATLAB&apos;s default</source>
        <translation>n = tanh(W x + b + r · (R h&apos;))：MATLAB 的默认设置</translation>
    </message>
    <message>
        <source>p</source>
        <translation>p</translation>
    </message>
    <message>
        <source>pieces</source>
        <translation>段</translation>
    </message>
    <message>
        <source>pixels</source>
        <translation>像素</translation>
    </message>
    <message>
        <source>real² + imaginary²</source>
        <translation>实部² + 虚部²</translation>
    </message>
    <message>
        <source>real² + imaginary² + 10⁻¹²</source>
        <translation>实部² + 虚部² + 10⁻¹²</translation>
    </message>
    <message>
        <source>restarts</source>
        <translation>次重启</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>次运行</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Reading the data was cancelled.</source>
        <translation>读取数据已取消。</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Progress of the evaluation</source>
        <translation>评估的进度</translation>
    </message>
    <message>
        <source>Evaluating the test split…</source>
        <translation>正在评估测试部分…</translation>
    </message>
    <message>
        <source>Not evaluated. Scores evaluates the run.</source>
        <translation>未评估。“分数”页会评估该运行。</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>个样本</translation>
    </message>
    <message>
        <source>error</source>
        <comment>of a prediction</comment>
        <translation>误差</translation>
    </message>
    <message>
        <source>Errors: {name}</source>
        <translation>误差：{name}</translation>
    </message>
    <message>
        <source>Confusion</source>
        <translation>混淆</translation>
    </message>
    <message>
        <source>{wrong:,} of {every:,} wrong</source>
        <translation>{every:,} 个中有 {wrong:,} 个错误</translation>
    </message>
    <message>
        <source>Click to see why</source>
        <translation>单击可查看原因</translation>
    </message>
    <message>
        <source>Explain</source>
        <translation>解释</translation>
    </message>
    <message>
        <source>Why the network answers so for the worst sample</source>
        <translation>网络对最差样本给出此答案的原因</translation>
    </message>
    <message>
        <source>by loss</source>
        <translation>按损失</translation>
    </message>
    <message>
        <source>by error</source>
        <translation>按误差</translation>
    </message>
    <message>
        <source>Worst samples</source>
        <translation>最差的样本</translation>
    </message>
    <message>
        <source>All scores</source>
        <translation>所有分数</translation>
    </message>
    <message>
        <source>Scores, confusions and calibration of the run</source>
        <translation>运行的分数、混淆情况和校准</translation>
    </message>
    <message>
        <source>is {label}, said {answer}</source>
        <translation>实际为 {label}，答为 {answer}</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>files</source>
        <translation>个文件</translation>
    </message>
    <message>
        <source>operators</source>
        <translation>个运算符</translation>
    </message>
    <message>
        <source>measurements</source>
        <translation>次测量</translation>
    </message>
    <message>
        <source>{share} ({count} of {total})</source>
        <translation>{share}（{count} / {total}）</translation>
    </message>
    <message>
        <source>Read the code first.</source>
        <translation>请先阅读代码。</translation>
    </message>
    <message>
        <source>shards</source>
        <translation>个分片</translation>
    </message>
    <message>
        <source>sin(x), x in radians</source>
        <translation>sin(x)，x 以弧度计</translation>
    </message>
    <message>
        <source>{name} of {group}</source>
        <translation>{group} 的 {name}</translation>
    </message>
    <message numerus="yes">
        <source>{series}, next %n step(s)</source>
        <translation>
            <numerusform>{series}，接下来 %n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>dotted: what followed</source>
        <translation>点线：实际后续</translation>
    </message>
    <message>
        <source>thin: {baseline}</source>
        <translation>细线：{baseline}</translation>
    </message>
    <message>
        <source>; </source>
        <translation>；</translation>
    </message>
    <message>
        <source>Forecast of {series}</source>
        <translation>{series} 的预测</translation>
    </message>
    <message>
        <source>season of {season}</source>
        <translation>周期 {season}</translation>
    </message>
    <message>
        <source>last value</source>
        <translation>最后一个值</translation>
    </message>
    <message>
        <source>The forecast has no finite numbers.</source>
        <translation>预测中没有有限的数值。</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step {step:+d}</source>
        <translation>第 {step:+d} 步</translation>
    </message>
    <message>
        <source>true {value}</source>
        <translation>真实值 {value}</translation>
    </message>
    <message>
        <source>step {step:+d}, forecast</source>
        <translation>第 {step:+d} 步，预测</translation>
    </message>
    <message>
        <source>step {step:+d}, before</source>
        <translation>第 {step:+d} 步，之前</translation>
    </message>
    <message>
        <source>steps of time × bands</source>
        <translation>时间步 × 频带</translation>
    </message>
    <message>
        <source>stop after this epoch requested</source>
        <translation>已请求在本轮之后停止</translation>
    </message>
    <message>
        <source>stop requested</source>
        <translation>已请求停止</translation>
    </message>
    <message>
        <source>tan(x), x in radians</source>
        <translation>tan(x)，x 以弧度计</translation>
    </message>
    <message>
        <source>tf32 on GPUs that support it</source>
        <translation>在支持的 GPU 上为 tf32</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>个线程</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>个词元</translation>
    </message>
    <message>
        <source>torch&apos;s MSELoss: squared error, mean over all elements</source>
        <translation>torch 的 MSELoss：误差平方，对所有元素取均值</translation>
    </message>
    <message>
        <source>torch&apos;s fused kernels called directly, for sgdm, adam and adamw</source>
        <translation>直接调用 torch 的融合内核，用于 sgdm、adam 和 adamw</translation>
    </message>
    <message>
        <source>trainingOptions(&apos;sgdm&apos;) with its defaults: an incomplete last batch is discarded, layers see padding, single precision everywhere</source>
        <translation>trainingOptions(&apos;sgdm&apos;) 及其默认值：丢弃不完整的最后一个批量，层会看到填充，全部使用单精度</translation>
    </message>
    <message>
        <source>trials</source>
        <translation>次试验</translation>
    </message>
    <message>
        <source>validated</source>
        <translation>已验证</translation>
    </message>
    <message>
        <source>validations</source>
        <translation>次验证</translation>
    </message>
    <message>
        <source>workers</source>
        <translation>个工作单元</translation>
    </message>
    <message>
        <source>x + mean: the reverse of zerocenter</source>
        <translation>x + 均值：zerocenter 的逆</translation>
    </message>
    <message>
        <source>x / (1 + |x|), from -1 to 1</source>
        <translation>x / (1 + |x|)，从 -1 到 1</translation>
    </message>
    <message>
        <source>x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³)))</source>
        <translation>x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³)))</translation>
    </message>
    <message>
        <source>x times the probability that a standard normal variable is below x</source>
        <translation>x 乘以标准正态变量小于 x 的概率</translation>
    </message>
    <message>
        <source>x · deviation + mean: the reverse of zscore</source>
        <translation>x · 标准差 + 均值：zscore 的逆</translation>
    </message>
    <message>
        <source>{value} epochs</source>
        <translation>{value} 轮</translation>
    </message>
    <message>
        <source>|x|</source>
        <translation>|x|</translation>
    </message>
    <message>
        <source>√(real² + imaginary² + 10⁻¹²)</source>
        <translation>√(实部² + 虚部² + 10⁻¹²)</translation>
    </message>
    <message>
        <source>√(real² + imaginary²)</source>
        <translation>√(实部² + 虚部²)</translation>
    </message>
    <message>
        <source>√max(x, epsilon): the square root</source>
        <translation>√max(x, epsilon)：平方根</translation>
    </message>
    <message>
        <source>{key} is a key without Ctrl or Alt, which types text or works on the canvas. Add Ctrl or Alt, or take F1 to F12.</source>
        <translation>{key} 不含 Ctrl 或 Alt，会键入文本或用于画布。请加上 Ctrl 或 Alt，或使用 F1 到 F12。</translation>
    </message>
    <message>
        <source>{key} is a key of the canvas: {use}. Choose another one.</source>
        <translation>{key} 是画布的按键：{use}。请选择其他按键。</translation>
    </message>
    <message>
        <source>{key} belongs to {action}. Choose another one, or change that first.</source>
        <translation>{key} 已用于“{action}”。请选择其他按键，或先更改该项。</translation>
    </message>
    <message>
        <source>Samples per class and split, {count:,} classes</source>
        <translation>每个类别和拆分的样本数，{count:,} 个类别</translation>
    </message>
    <message>
        <source>Samples per split</source>
        <translation>每个拆分的样本数</translation>
    </message>
    <message>
        <source>Values of {count:,} columns</source>
        <translation>{count:,} 列的值</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} 到 {high}</translation>
    </message>
    <message>
        <source>mean {value}</source>
        <translation>均值 {value}</translation>
    </message>
    <message>
        <source>{others:,} others: {count:,}</source>
        <translation>其他 {others:,} 个：{count:,}</translation>
    </message>
    <message>
        <source>counted over {count:,} of the values</source>
        <translation>基于其中 {count:,} 个值计数</translation>
    </message>
    <message>
        <source>{count:,} missing</source>
        <translation>{count:,} 个缺失</translation>
    </message>
    <message>
        <source>{count:,} different</source>
        <translation>{count:,} 个不同值</translation>
    </message>
    <message>
        <source>It could also be {kind}. {reason}.</source>
        <translation>也可能是{kind}。{reason}。</translation>
    </message>
    <message>
        <source>{name}: {kind}.</source>
        <translation>{name}：{kind}。</translation>
    </message>
    <message>
        <source>Choose the folder of the data</source>
        <translation>选择数据所在的文件夹</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Choose the data</source>
        <translation>选择数据</translation>
    </message>
    <message>
        <source>Looking at {name}…</source>
        <translation>正在查看 {name}…</translation>
    </message>
    <message>
        <source>The data is not understood</source>
        <translation>无法识别数据</translation>
    </message>
    <message>
        <source>The data cannot be used</source>
        <translation>无法使用数据</translation>
    </message>
    <message>
        <source>Choose data</source>
        <translation>选择数据</translation>
    </message>
    <message>
        <source>Use as {kind}</source>
        <translation>用作{kind}</translation>
    </message>
    <message>
        <source>Chosen by you</source>
        <translation>由您选择</translation>
    </message>
    <message>
        <source>File…</source>
        <translation>文件…</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Choose the data the network learns from</source>
        <translation>选择网络学习所用的数据</translation>
    </message>
    <message>
        <source>Drop a file or a folder anywhere in the window, or choose one: Netwright finds out what it is.</source>
        <translation>将文件或文件夹拖放到窗口中的任意位置，或选择一个：Netwright 会识别其种类。</translation>
    </message>
    <message>
        <source>Supported: {kinds}.</source>
        <translation>支持：{kinds}。</translation>
    </message>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message>
        <source>Findings about the data</source>
        <translation>关于数据的发现</translation>
    </message>
    <message>
        <source>Review all</source>
        <translation>查看全部</translation>
    </message>
    <message>
        <source>Show everything that was checked, file by file and column by column</source>
        <translation>逐个文件、逐列显示所有检查结果</translation>
    </message>
    <message>
        <source>The answer cannot be stored</source>
        <translation>无法保存回答</translation>
    </message>
    <message>
        <source>no values</source>
        <translation>没有值</translation>
    </message>
    <message>
        <source>Channel {number}</source>
        <translation>通道 {number}</translation>
    </message>
    <message>
        <source>The address is in the project, and nothing was sent there yet. Netwright remembers your answer for this project.</source>
        <translation>该地址写在项目中，尚未向其发送任何内容。Netwright 会为此项目记住您的回答。</translation>
    </message>
    <message>
        <source>The data is at {hosts}</source>
        <translation>数据位于 {hosts}</translation>
    </message>
    <message>
        <source>sample {number:,}</source>
        <translation>样本 {number:,}</translation>
    </message>
    <message>
        <source>Right of the line: {columns}</source>
        <translation>线的右侧：{columns}</translation>
    </message>
    <message>
        <source>Looking at samples: {progress}</source>
        <translation>正在查看样本：{progress}</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>所有类别</translation>
    </message>
    <message>
        <source>Class of the samples</source>
        <translation>样本的类别</translation>
    </message>
    <message>
        <source>Show as augmented</source>
        <translation>显示增强后的样本</translation>
    </message>
    <message>
        <source>The samples of the training split as an epoch changes them at random</source>
        <translation>训练部分的样本，按一轮中的随机变化显示</translation>
    </message>
    <message>
        <source>New samples</source>
        <translation>换一批样本</translation>
    </message>
    <message>
        <source>Epoch {epoch}</source>
        <translation>第 {epoch} 轮</translation>
    </message>
    <message>
        <source>As the next epoch changes them</source>
        <translation>按下一轮的变化显示</translation>
    </message>
    <message>
        <source>Others, by chance</source>
        <translation>随机换一批</translation>
    </message>
    <message>
        <source>val</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>Sample: {name}</source>
        <translation>样本：{name}</translation>
    </message>
    <message>
        <source>A class is built, run once and exported by torch: sizes of one sample, inputs separated by commas, indices as 128:int64; arguments as in a call.</source>
        <translation>类由 torch 构建、运行一次并导出：填写一个样本的大小，各输入以逗号分隔，索引写作 128:int64；参数写法与调用时相同。</translation>
    </message>
    <message>
        <source>The file is read without running it; to compare its numbers with the network&apos;s, its class has to run.</source>
        <translation>读取文件时不运行它；要将其数值与网络的数值比较，必须运行其中的类。</translation>
    </message>
    <message>
        <source>The file was edited after its export, so its class has to run: torch exports it, as any other class.</source>
        <translation>该文件在导出后被编辑过，因此必须运行其中的类：torch 会像导出其他类一样导出它。</translation>
    </message>
    <message>
        <source>For sizes that the file leaves free. Usually not needed</source>
        <translation>用于文件中未固定的大小。通常不需要</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Importing</source>
        <translation>正在导入</translation>
    </message>
    <message>
        <source>The import was cancelled. Nothing was opened.</source>
        <translation>导入已取消。未打开任何内容。</translation>
    </message>
    <message>
        <source>Import network</source>
        <translation>导入网络</translation>
    </message>
    <message>
        <source>Import {name}</source>
        <translation>导入 {name}</translation>
    </message>
    <message>
        <source>The network becomes a project that can be edited and trained, with its weights beside it.</source>
        <translation>网络将成为可编辑和训练的项目，其权重位于项目旁。</translation>
    </message>
    <message>
        <source>Project to write</source>
        <translation>要写入的项目</translation>
    </message>
    <message>
        <source>Sizes that the file leaves free</source>
        <translation>文件中未固定的大小</translation>
    </message>
    <message>
        <source>&amp;Project</source>
        <translation>项目(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Free sizes</source>
        <translation>自由大小(&amp;F)</translation>
    </message>
    <message>
        <source>Save the imported project</source>
        <translation>保存导入的项目</translation>
    </message>
    <message>
        <source>Netwright projects (*{suffix})</source>
        <translation>Netwright 项目 (*{suffix})</translation>
    </message>
    <message>
        <source>Choose where to save the project.</source>
        <translation>请选择项目的保存位置。</translation>
    </message>
    <message>
        <source>It exists in {folder}; its network and weights are lost.</source>
        <translation>它已存在于 {folder} 中；其网络和权重将丢失。</translation>
    </message>
    <message>
        <source>Say the sizes of the inputs, such as 3x224x224.</source>
        <translation>请填写输入的大小，例如 3x224x224。</translation>
    </message>
    <message>
        <source>Without trust the file is not run, and nothing can be imported from it.</source>
        <translation>未获信任的文件不会运行，也无法从中导入任何内容。</translation>
    </message>
    <message>
        <source>Reading the file… the first time takes a few seconds.</source>
        <translation>正在读取文件… 首次需要几秒钟。</translation>
    </message>
    <message>
        <source>To import {name}, {file} has to run. May it?</source>
        <translation>要导入 {name}，必须运行 {file}。是否允许？</translation>
    </message>
    <message>
        <source>To compare its numbers, {file} has to run. May it?</source>
        <translation>要比较其数值，必须运行 {file}。是否允许？</translation>
    </message>
    <message>
        <source>What to import of the file</source>
        <translation>要从文件导入的内容</translation>
    </message>
    <message>
        <source>Source that Netwright exported</source>
        <translation>由 Netwright 导出的源代码</translation>
    </message>
    <message>
        <source>class {name}</source>
        <translation>类 {name}</translation>
    </message>
    <message>
        <source>Run the class to compare its numbers</source>
        <translation>运行该类以比较其数值</translation>
    </message>
    <message>
        <source>&amp;What</source>
        <translation>内容(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Inputs</source>
        <translation>输入(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Arguments</source>
        <translation>参数(&amp;A)</translation>
    </message>
    <message>
        <source>&apos;{part}&apos; is no size: expected a name and a whole number, such as height=224.</source>
        <translation>“{part}”不是大小：应为名称和整数，例如 height=224。</translation>
    </message>
    <message>
        <source>Networks are trained by PyTorch, which is downloaded once, with the libraries that go with it. Nothing is downloaded before you press Install.</source>
        <translation>网络由 PyTorch 训练，PyTorch 及其所需的库只下载一次。在您按下“安装”之前不会下载任何内容。</translation>
    </message>
    <message>
        <source>This version of Netwright needs other libraries beside PyTorch. PyTorch itself stays as it is. Nothing is downloaded before you press Install.</source>
        <translation>此版本的 Netwright 除 PyTorch 外还需要其他库。PyTorch 本身保持不变。在您按下“安装”之前不会下载任何内容。</translation>
    </message>
    <message>
        <source>Stopped. What was downloaded completely is used when you go on, now or at the next start.</source>
        <translation>已停止。已完整下载的内容会在您继续时使用，无论是现在还是下次启动时。</translation>
    </message>
    <message>
        <source>For the processor alone</source>
        <translation>仅用于处理器</translation>
    </message>
    <message>
        <source>For NVIDIA GPUs, and the processor</source>
        <translation>用于 NVIDIA GPU 和处理器</translation>
    </message>
    <message>
        <source>Making the environment</source>
        <translation>创建环境</translation>
    </message>
    <message>
        <source>Installing PyTorch {version}</source>
        <translation>安装 PyTorch {version}</translation>
    </message>
    <message>
        <source>Installing the libraries of the engine</source>
        <translation>安装引擎的库</translation>
    </message>
    <message>
        <source>No NVIDIA GPU can be used: {error}.</source>
        <translation>没有可用的 NVIDIA GPU：{error}。</translation>
    </message>
    <message>
        <source>The NVIDIA driver is {version}; PyTorch needs {oldest} or newer to use the GPU.</source>
        <translation>NVIDIA 驱动程序的版本为 {version}；PyTorch 需要 {oldest} 或更高版本才能使用 GPU。</translation>
    </message>
    <message>
        <source>The NVIDIA driver {version} was found.</source>
        <translation>已找到 NVIDIA 驱动程序 {version}。</translation>
    </message>
    <message>
        <source>Unpacking</source>
        <translation>正在解压</translation>
    </message>
    <message>
        <source>{step}: {name}</source>
        <translation>{step}：{name}</translation>
    </message>
    <message>
        <source>the exit code is {code}</source>
        <translation>退出代码为 {code}</translation>
    </message>
    <message>
        <source>{step} failed: {reason}.</source>
        <translation>{step} 失败：{reason}。</translation>
    </message>
    <message>
        <source>Set up Netwright</source>
        <translation>设置 Netwright</translation>
    </message>
    <message>
        <source>Install the engine</source>
        <translation>安装引擎</translation>
    </message>
    <message>
        <source>Update the engine</source>
        <translation>更新引擎</translation>
    </message>
    <message>
        <source>It is installed in {folder}, where {size} are free.</source>
        <translation>安装到 {folder}，该处有 {size} 可用空间。</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>{build}: {download} to download, {disk} on the disk</source>
        <translation>{build}：需下载 {download}，占用磁盘 {disk}</translation>
    </message>
    <message>
        <source>There is too little room: {needed} are needed and {free} are free in {folder}.</source>
        <translation>空间不足：需要 {needed}，{folder} 中可用空间为 {free}。</translation>
    </message>
    <message>
        <source>{step} ({done:,} of about {total:,} MB)</source>
        <translation>{step}（{done:,} MB，共约 {total:,} MB）</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>No longer exists</source>
        <translation>已不存在</translation>
    </message>
    <message>
        <source>No preview</source>
        <translation>无预览</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>无法打开</translation>
    </message>
    <message>
        <source>recent project</source>
        <translation>最近的项目</translation>
    </message>
    <message>
        <source>Press Del to remove it from the list.</source>
        <translation>按 Del 可将其从列表中移除。</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Remove from this list</source>
        <translation>从此列表中移除</translation>
    </message>
    <message>
        <source>a very large network</source>
        <translation>非常大的网络</translation>
    </message>
    <message>
        <source>{layers} · unfinished</source>
        <translation>{layers} · 未完成</translation>
    </message>
    <message>
        <source>{layers} · {count} parameters</source>
        <translation>{layers} · {count} 个参数</translation>
    </message>
    <message>
        <source>Show curves</source>
        <translation>显示曲线</translation>
    </message>
    <message>
        <source>Experiment {name}</source>
        <translation>实验 {name}</translation>
    </message>
    <message>
        <source>{name}, not saved when it began</source>
        <translation>{name}，开始时未保存</translation>
    </message>
    <message>
        <source>Progress of {title}</source>
        <translation>{title} 的进度</translation>
    </message>
    <message>
        <source>Show trials</source>
        <translation>显示试验</translation>
    </message>
    <message>
        <source>Show trials of {title}, {project}</source>
        <translation>显示 {title} 的试验，{project}</translation>
    </message>
    <message>
        <source>Show curves of {title}, {project}</source>
        <translation>显示 {title} 的曲线，{project}</translation>
    </message>
    <message>
        <source>{state} at epoch {epochs:,.0f}</source>
        <translation>第 {epochs:,.0f} 轮{state}</translation>
    </message>
    <message>
        <source>{option} {value}</source>
        <translation>{option} {value}</translation>
    </message>
    <message numerus="yes">
        <source>%n trial(s)</source>
        <translation>
            <numerusform>%n 次试验</numerusform>
        </translation>
    </message>
    <message>
        <source>Parallel</source>
        <comment>plot</comment>
        <translation>平行坐标</translation>
    </message>
    <message>
        <source>Parallel coordinates</source>
        <translation>平行坐标</translation>
    </message>
    <message>
        <source>Drag along an axis to keep the trials that pass there. Click a line to select its trial.</source>
        <translation>沿轴拖动可保留经过该处的试验。单击一条线可选择其试验。</translation>
    </message>
    <message>
        <source>Clear brushes</source>
        <translation>清除筛选范围</translation>
    </message>
    <message>
        <source>No value differs between these trials.</source>
        <translation>这些试验之间没有不同的值。</translation>
    </message>
    <message>
        <source>the best {count:,} are drawn</source>
        <translation>绘制最佳的 {count:,} 个</translation>
    </message>
    <message numerus="yes">
        <source>{count:,} of %n trial(s)</source>
        <translation>
            <numerusform>%n 次试验中的 {count:,} 次</numerusform>
        </translation>
    </message>
    <message>
        <source>Trial {number}: {values}</source>
        <translation>试验 {number}：{values}</translation>
    </message>
    <message numerus="yes">
        <source>%n more trial(s)</source>
        <translation>
            <numerusform>另有 %n 次试验</numerusform>
        </translation>
    </message>
    <message>
        <source>Show them all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>experiment {name}</source>
        <translation>实验 {name}</translation>
    </message>
    <message>
        <source>trial {number}</source>
        <translation>试验 {number}</translation>
    </message>
    <message>
        <source>best</source>
        <translation>最佳</translation>
    </message>
    <message>
        <source>epoch {epoch:,} of {epochs}</source>
        <translation>第 {epoch:,} / {epochs} 轮</translation>
    </message>
    <message numerus="yes">
        <source>%n trial(s) done</source>
        <translation>
            <numerusform>已完成 %n 次试验</numerusform>
        </translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Epoch {epoch:,} of {epochs:,}</source>
        <translation>第 {epoch:,} 轮，共 {epochs:,} 轮</translation>
    </message>
    <message>
        <source>Epoch {epoch:,}</source>
        <translation>第 {epoch:,} 轮</translation>
    </message>
    <message>
        <source>{progress} · paused</source>
        <translation>{progress} · 已暂停</translation>
    </message>
    <message>
        <source>{progress} · {time} left</source>
        <translation>{progress} · 剩余 {time}</translation>
    </message>
    <message>
        <source>IN PROGRESS</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Runs and experiments in progress</source>
        <translation>进行中的运行和实验</translation>
    </message>
    <message>
        <source>No preview yet: the disk of the file does not answer, or the machine is too busy.</source>
        <translation>尚无预览：文件所在的磁盘没有响应，或机器过于繁忙。</translation>
    </message>
    <message>
        <source>No preview yet: the process that draws it ended too early.</source>
        <translation>尚无预览：绘制预览的进程过早结束。</translation>
    </message>
    <message>
        <source>Small</source>
        <translation>小</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>中</translation>
    </message>
    <message>
        <source>Large</source>
        <translation>大</translation>
    </message>
    <message>
        <source>Very large</source>
        <translation>特大</translation>
    </message>
    <message>
        <source>{file} in {folder} is not one of your blocks: {reason}</source>
        <translation>{folder} 中的 {file} 不是您的模块：{reason}</translation>
    </message>
    <message>
        <source>The block takes {size:,} bytes; one of your blocks has at most {limit:,}.</source>
        <translation>该模块占 {size:,} 字节；您的模块最多占 {limit:,} 字节。</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <translation>无法写入 {path}：{reason}。</translation>
    </message>
    <message>
        <source>There is a block &apos;{name}&apos; already. Choose another name.</source>
        <translation>已有名为“{name}”的模块。请选择其他名称。</translation>
    </message>
    <message>
        <source>There is no block &apos;{name}&apos; any more.</source>
        <translation>名为“{name}”的模块已不存在。</translation>
    </message>
    <message>
        <source>{path} cannot be removed: {reason}.</source>
        <translation>无法移除 {path}：{reason}。</translation>
    </message>
    <message>
        <source>it has more than {limit:,} bytes.</source>
        <translation>它超过 {limit:,} 字节。</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}.</source>
        <translation>无法读取：{reason}。</translation>
    </message>
    <message>
        <source>{count:,} copies</source>
        <translation>{count:,} 个副本</translation>
    </message>
    <message>
        <source>in</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>out</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Reading training samples…</source>
        <translation>正在读取训练样本…</translation>
    </message>
    <message>
        <source>Training samples as augmented</source>
        <translation>增强后的训练样本</translation>
    </message>
    <message>
        <source>Training samples, unchanged</source>
        <translation>未更改的训练样本</translation>
    </message>
    <message>
        <source>detecting devices…</source>
        <translation>正在检测设备…</translation>
    </message>
    <message>
        <source>picks {resolved} here</source>
        <translation>在此选择 {resolved}</translation>
    </message>
    <message numerus="yes">
        <source>one process, %n thread(s)</source>
        <translation>
            <numerusform>一个进程，%n 个线程</numerusform>
        </translation>
    </message>
    <message>
        <source>{count:,} workers, {backend}</source>
        <translation>{count:,} 个工作单元，{backend}</translation>
    </message>
    <message>
        <source>Will use {}</source>
        <translation>将使用 {}</translation>
    </message>
    <message>
        <source>Groups of options</source>
        <translation>选项组</translation>
    </message>
    <message>
        <source>Show only these</source>
        <translation>仅显示这些</translation>
    </message>
    <message>
        <source>Copy…</source>
        <translation>复制…</translation>
    </message>
    <message>
        <source>Copy the options that differ from the defaults</source>
        <translation>复制与默认值不同的选项</translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation>复制为 JSON</translation>
    </message>
    <message>
        <source>Copy as --set arguments</source>
        <translation>复制为 --set 参数</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Go to the problem</source>
        <translation>转到问题</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>确定</translation>
    </message>
    <message>
        <source>{count:,} changed from the defaults</source>
        <translation>{count:,} 项与默认值不同</translation>
    </message>
    <message>
        <source>All options have their defaults</source>
        <translation>所有选项均为默认值</translation>
    </message>
    <message>
        <source>Go to {place}</source>
        <translation>转到 {place}</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>Common</source>
        <translation>常用</translation>
    </message>
    <message>
        <source>Data flow</source>
        <translation>数据流</translation>
    </message>
    <message>
        <source>Optimisation</source>
        <translation>优化</translation>
    </message>
    <message>
        <source>Validation and stopping</source>
        <translation>验证与停止</translation>
    </message>
    <message>
        <source>Saving</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>高级</translation>
    </message>
    <message>
        <source>Edit the sweep…</source>
        <translation>编辑扫描…</translation>
    </message>
    <message>
        <source>Varies in experiments: {values}</source>
        <translation>在实验中变化：{values}</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤消</translation>
    </message>
    <message>
        <source>Presets…</source>
        <translation>预设…</translation>
    </message>
    <message>
        <source>Saved sets of training options</source>
        <translation>保存的训练选项集</translation>
    </message>
    <message>
        <source>Your presets cannot be read</source>
        <translation>无法读取您的预设</translation>
    </message>
    <message>
        <source>Save as preset…</source>
        <translation>另存为预设…</translation>
    </message>
    <message>
        <source>Delete preset</source>
        <translation>删除预设</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; has set {changes}.</source>
        <translation>“{name}”已设置 {changes}。</translation>
    </message>
    <message>
        <source>All other options stay as they are.</source>
        <translation>所有其他选项保持不变。</translation>
    </message>
    <message>
        <source>&apos;{name}&apos; changes nothing: these options are set already.</source>
        <translation>“{name}”没有更改任何内容：这些选项已经设置。</translation>
    </message>
    <message>
        <source>Save as preset</source>
        <translation>另存为预设</translation>
    </message>
    <message>
        <source>Name (an existing preset of this name is replaced):</source>
        <translation>名称（将替换同名的现有预设）：</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Export report</source>
        <translation>导出报告</translation>
    </message>
    <message>
        <source>Wrote {file}, without {part}: {reason}</source>
        <translation>已写入 {file}，不含 {part}：{reason}</translation>
    </message>
    <message>
        <source>Wrote {file}</source>
        <translation>已写入 {file}</translation>
    </message>
    <message>
        <source>The report cannot be written</source>
        <translation>无法写入报告</translation>
    </message>
    <message>
        <source>HTML (*{suffix})</source>
        <translation>HTML (*{suffix})</translation>
    </message>
    <message>
        <source>{action}: {progress}</source>
        <translation>{action}：{progress}</translation>
    </message>
    <message>
        <source>An address that gets a small JSON message when a run, an experiment or the queue has ended: name, state and metrics, nothing of the data. Empty: nobody is told.</source>
        <translation>运行、实验或队列结束时，会向此地址发送一条简短的 JSON 消息：名称、状态和度量，不含任何数据。留空：不通知任何人。</translation>
    </message>
    <message>
        <source>Address of the webhook</source>
        <translation>Webhook 的地址</translation>
    </message>
    <message>
        <source>Send a test message</source>
        <translation>发送测试消息</translation>
    </message>
    <message>
        <source>Webhook</source>
        <translation>Webhook</translation>
    </message>
    <message>
        <source>Tells {host}.</source>
        <translation>通知 {host}。</translation>
    </message>
    <message>
        <source>Sending…</source>
        <translation>正在发送…</translation>
    </message>
    <message>
        <source>{host} took the test message.</source>
        <translation>{host} 已接收测试消息。</translation>
    </message>
    <message>
        <source>error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>The project is looked at, and its network trained for some seconds on the CPU, without changing anything. Findings are in the order of their effect.</source>
        <translation>检查项目，并在 CPU 上将其网络训练几秒钟，不做任何更改。检查结果按影响大小排列。</translation>
    </message>
    <message>
        <source>Doctor</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Examine again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Try the cures</source>
        <translation>试验解决办法</translation>
    </message>
    <message>
        <source>Train briefly with and without each cure, with the same seeds; takes a minute or two</source>
        <translation>使用相同的种子，分别在采用和不采用每种解决办法的情况下短暂训练；需要一两分钟</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Trying the cures…</source>
        <translation>正在试验解决办法…</translation>
    </message>
    <message>
        <source>Examining…</source>
        <translation>正在检查…</translation>
    </message>
    <message numerus="yes">
        <source>%n finding(s), after {seconds:.0f} s.</source>
        <translation>
            <numerusform>%n 项检查结果，用时 {seconds:.0f} s。</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is wrong, after {seconds:.0f} s.</source>
        <translation>未发现问题，用时 {seconds:.0f} s。</translation>
    </message>
    <message>
        <source>None of the checks explains what the run has shown.</source>
        <translation>没有任何检查能解释此运行所显示的情况。</translation>
    </message>
    <message>
        <source>Tried: {comparison}</source>
        <translation>已试验：{comparison}</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Changed; Edit &gt; Undo takes it back. Examine again to see what is left.</source>
        <translation>已更改；可用“编辑”&gt;“撤消”恢复。请重新检查以查看剩余的问题。</translation>
    </message>
    <message>
        <source>In order:</source>
        <translation>正常：</translation>
    </message>
    <message>
        <source>The project has no file yet. Choose one with Save as.</source>
        <translation>项目尚无文件。请用“另存为”选择一个。</translation>
    </message>
    <message>
        <source>{file} belongs to Netwright, which opens it as a copy. Save in a folder of your own.</source>
        <translation>{file} 属于 Netwright，打开的是其副本。请保存到您自己的文件夹中。</translation>
    </message>
    <message>
        <source>{menu}: {action}</source>
        <translation>{menu}：{action}</translation>
    </message>
    <message>
        <source>rename the selected layer</source>
        <translation>重命名所选的层</translation>
    </message>
    <message>
        <source>move the selection</source>
        <translation>移动所选内容</translation>
    </message>
    <message>
        <source>move the selection further</source>
        <translation>大幅移动所选内容</translation>
    </message>
    <message>
        <source>This installation has no analysis of trained networks.</source>
        <translation>此安装没有对经过训练的网络的分析功能。</translation>
    </message>
    <message>
        <source>Looking for the newest run…</source>
        <translation>正在查找最新的运行…</translation>
    </message>
    <message>
        <source>Looking at the layers…</source>
        <translation>正在查看各层…</translation>
    </message>
    <message>
        <source>The attribution cannot be shown</source>
        <translation>无法显示归因</translation>
    </message>
    <message>
        <source>The activations cannot be shown</source>
        <translation>无法显示激活值</translation>
    </message>
    <message>
        <source>{file} cannot be read. Show them again.</source>
        <translation>无法读取 {file}。请重新显示。</translation>
    </message>
    <message>
        <source>labelled {label}</source>
        <translation>标签 {label}</translation>
    </message>
    <message>
        <source>answer {answer}</source>
        <translation>答案 {answer}</translation>
    </message>
    <message>
        <source>Sample {place:,} of {count:,}</source>
        <translation>第 {place:,} 个样本，共 {count:,} 个</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史记录</translation>
    </message>
    <message>
        <source>As it was opened</source>
        <translation>打开时的状态</translation>
    </message>
    <message>
        <source>Steps to undo and redo</source>
        <translation>可撤销和重做的步骤</translation>
    </message>
    <message>
        <source>Layers {count:,}</source>
        <translation>层 {count:,}</translation>
    </message>
    <message>
        <source>No cure</source>
        <translation>没有解决办法</translation>
    </message>
    <message>
        <source>Show the panel</source>
        <translation>显示面板</translation>
    </message>
    <message>
        <source>Fold the panel to one line</source>
        <translation>将面板折叠为一行</translation>
    </message>
    <message>
        <source>at iteration {iteration:,}</source>
        <translation>在第 {iteration:,} 次迭代</translation>
    </message>
    <message>
        <source>{epoch}, iteration {iteration:,}</source>
        <translation>{epoch}，迭代 {iteration:,}</translation>
    </message>
    <message>
        <source>Shown as soon as the run reports it.</source>
        <translation>运行报告后立即显示。</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) on {device}</source>
        <translation>
            <numerusform>在 {device} 上测量 %n 个样本</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{place}, %n thread(s)</source>
        <translation>
            <numerusform>{place}，%n 个线程</numerusform>
        </translation>
    </message>
    <message>
        <source>The times of the layers could not be measured: the process has ended. Try again.</source>
        <translation>无法测量各层的时间：进程已结束。请重试。</translation>
    </message>
    <message numerus="yes">
        <source>Measuring: %n layer(s)…</source>
        <translation>
            <numerusform>正在测量：%n 个层…</numerusform>
        </translation>
    </message>
    <message>
        <source>Measuring: starting…</source>
        <translation>正在测量：正在启动…</translation>
    </message>
    <message>
        <source>Not measured yet</source>
        <translation>尚未测量</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>测量</translation>
    </message>
    <message>
        <source>{measurement}, before the last edits</source>
        <translation>{measurement}，在最近的编辑之前</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>重新测量</translation>
    </message>
    <message>
        <source>Networks of other programs ({patterns})</source>
        <translation>其他程序的网络 ({patterns})</translation>
    </message>
    <message>
        <source>The project cannot be opened</source>
        <translation>无法打开项目</translation>
    </message>
    <message>
        <source>Unsaved work on {title} was recovered.</source>
        <translation>已恢复 {title} 中未保存的工作。</translation>
    </message>
    <message>
        <source>Projects and networks ({patterns})</source>
        <translation>项目和网络 ({patterns})</translation>
    </message>
    <message>
        <source>Data of any kind (*)</source>
        <translation>任意种类的数据 (*)</translation>
    </message>
    <message>
        <source>Open a project, a network or data</source>
        <translation>打开项目、网络或数据</translation>
    </message>
    <message>
        <source>Save the project</source>
        <translation>保存项目</translation>
    </message>
    <message>
        <source>{file} was changed by another program.</source>
        <translation>{file} 已被其他程序更改。</translation>
    </message>
    <message>
        <source>Saving overwrites its changes. To keep both, cancel and use Save as.</source>
        <translation>保存会覆盖其更改。要保留两者，请取消并使用“另存为”。</translation>
    </message>
    <message>
        <source>Replace it</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>The project cannot be saved</source>
        <translation>无法保存项目</translation>
    </message>
    <message>
        <source>Save elsewhere</source>
        <translation>保存到其他位置</translation>
    </message>
    <message>
        <source>Saved {file}.</source>
        <translation>已保存 {file}。</translation>
    </message>
    <message>
        <source>Zoom</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Wheel, or two fingers</source>
        <translation>滚轮，或双指</translation>
    </message>
    <message>
        <source>Pan</source>
        <translation>平移</translation>
    </message>
    <message>
        <source>Middle button, or Space and drag</source>
        <translation>鼠标中键，或按住空格键拖动</translation>
    </message>
    <message>
        <source>Add a layer at the pointer, or after the selected one</source>
        <translation>在指针处或所选层之后添加层</translation>
    </message>
    <message>
        <source>Add a layer on the canvas, or into a connection</source>
        <translation>在画布上或连接中添加层</translation>
    </message>
    <message>
        <source>Double click</source>
        <translation>双击</translation>
    </message>
    <message>
        <source>Add a layer where you clicked</source>
        <translation>在单击处添加层</translation>
    </message>
    <message>
        <source>Click on the canvas, then Tab</source>
        <translation>单击画布，然后按 Tab</translation>
    </message>
    <message>
        <source>Add a layer to an open port</source>
        <translation>为未连接的端口添加层</translation>
    </message>
    <message>
        <source>Drag from the port to the canvas</source>
        <translation>从端口拖到画布</translation>
    </message>
    <message>
        <source>Move an end of a connection</source>
        <translation>移动连接的一端</translation>
    </message>
    <message>
        <source>Drag it beside its port</source>
        <translation>在其端口旁拖动</translation>
    </message>
    <message>
        <source>Move all connections of an output</source>
        <translation>移动一个输出的所有连接</translation>
    </message>
    <message>
        <source>Shift and drag from the port</source>
        <translation>按住 Shift 从端口拖动</translation>
    </message>
    <message>
        <source>Add to the selection</source>
        <translation>添加到所选内容</translation>
    </message>
    <message>
        <source>Ctrl or Shift and click</source>
        <translation>按住 Ctrl 或 Shift 并单击</translation>
    </message>
    <message>
        <source>Select with a lasso</source>
        <translation>用套索选择</translation>
    </message>
    <message>
        <source>Alt and drag, or L and drag</source>
        <translation>按住 Alt 拖动，或按 L 后拖动</translation>
    </message>
    <message>
        <source>Select the first layer</source>
        <translation>选择第一个层</translation>
    </message>
    <message>
        <source>An arrow key, while none is selected</source>
        <translation>未选择层时按任一方向键</translation>
    </message>
    <message>
        <source>Next, previous layer</source>
        <translation>下一个、上一个层</translation>
    </message>
    <message>
        <source>N, Shift+N</source>
        <translation>N、Shift+N</translation>
    </message>
    <message>
        <source>Leave the canvas</source>
        <translation>离开画布</translation>
    </message>
    <message>
        <source>Tab, Shift+Tab</source>
        <translation>Tab、Shift+Tab</translation>
    </message>
    <message>
        <source>Go along the connections, or to a layer beside</source>
        <translation>沿连接移动，或移到旁边的层</translation>
    </message>
    <message>
        <source>Arrow keys; with Shift to select more</source>
        <translation>方向键；按住 Shift 可选择更多</translation>
    </message>
    <message>
        <source>Move the selection</source>
        <translation>移动所选内容</translation>
    </message>
    <message>
        <source>Ctrl and arrow keys; with Shift further</source>
        <translation>Ctrl 和方向键；加按 Shift 移动更远</translation>
    </message>
    <message>
        <source>Connect the selected layer by keys</source>
        <translation>用键盘连接所选的层</translation>
    </message>
    <message>
        <source>C, then arrows or typing, Tab for the input, Enter</source>
        <translation>C，然后用方向键或键入名称，用 Tab 选择输入，按 Enter</translation>
    </message>
    <message>
        <source>Edit the fields of the selected layers</source>
        <translation>编辑所选层的字段</translation>
    </message>
    <message>
        <source>Rename the selected layer</source>
        <translation>重命名所选的层</translation>
    </message>
    <message>
        <source>F2, or double click</source>
        <translation>F2，或双击</translation>
    </message>
    <message>
        <source>Bypass the selected layers, or use them again</source>
        <translation>旁路所选的层，或重新使用它们</translation>
    </message>
    <message>
        <source>Delete and reconnect</source>
        <translation>删除并重新连接</translation>
    </message>
    <message>
        <source>Delete and leave the gap</source>
        <translation>删除并保留空缺</translation>
    </message>
    <message>
        <source>Fit to window, zoom to the selection</source>
        <translation>适应窗口、缩放到所选内容</translation>
    </message>
    <message>
        <source>F, Shift+F</source>
        <translation>F、Shift+F</translation>
    </message>
    <message>
        <source>Zoom in, out</source>
        <translation>放大、缩小</translation>
    </message>
    <message>
        <source>Cancel a gesture, select nothing</source>
        <translation>取消手势、取消选择</translation>
    </message>
    <message>
        <source>Search commands</source>
        <translation>搜索命令</translation>
    </message>
    <message>
        <source>Search commands…</source>
        <translation>搜索命令…</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>No matching commands</source>
        <translation>没有匹配的命令</translation>
    </message>
    <message>
        <source>Cannot be used now</source>
        <translation>现在无法使用</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Canvas</source>
        <translation>画布</translation>
    </message>
    <message>
        <source>Design, train and understand neural networks.

Apache License 2.0. Built on Qt for Python (LGPL), PyTorch, ONNX and ONNX Runtime.

The digits example holds the Optical Recognition of Handwritten Digits data set by E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0.</source>
        <translation>设计、训练和理解神经网络。

Apache License 2.0。基于 Qt for Python (LGPL)、PyTorch、ONNX 和 ONNX Runtime 构建。

手写数字示例包含 E. Alpaydin 和 C. Kaynak 的数据集 Optical Recognition of Handwritten Digits，UCI Machine Learning Repository，CC BY 4.0。</translation>
    </message>
    <message>
        <source>About Netwright</source>
        <translation>关于 Netwright</translation>
    </message>
    <message>
        <source>Netwright {version}</source>
        <translation>Netwright {version}</translation>
    </message>
    <message>
        <source>ADD-ONS</source>
        <translation>附加组件</translation>
    </message>
    <message>
        <source>None. Installed packages can bring layer types of their own.</source>
        <translation>无。已安装的包可以带来自己的层类型。</translation>
    </message>
    <message numerus="yes">
        <source>{layers} and %n more</source>
        <translation>
            <numerusform>{layers} 以及另外 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>Import a network</source>
        <translation>导入网络</translation>
    </message>
    <message>
        <source>The file cannot be imported</source>
        <translation>无法导入文件</translation>
    </message>
    <message>
        <source>There is no file {file}.</source>
        <translation>没有文件 {file}。</translation>
    </message>
    <message>
        <source>This project was not imported here: there is no report.</source>
        <translation>此项目不是在此处导入的：没有报告。</translation>
    </message>
    <message>
        <source>The experiment cannot be stopped</source>
        <translation>无法停止实验</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>打开最近的项目</translation>
    </message>
    <message>
        <source>Open an example</source>
        <translation>打开示例</translation>
    </message>
    <message>
        <source>Recent data</source>
        <translation>最近的数据</translation>
    </message>
    <message>
        <source>Panels</source>
        <translation>面板</translation>
    </message>
    <message>
        <source>No project was opened yet</source>
        <translation>尚未打开过项目</translation>
    </message>
    <message>
        <source>The examples are not installed</source>
        <translation>未安装示例</translation>
    </message>
    <message>
        <source>No file or folder was used as data yet</source>
        <translation>尚未将任何文件或文件夹用作数据</translation>
    </message>
    <message>
        <source>Stop {run}</source>
        <translation>停止 {run}</translation>
    </message>
    <message>
        <source>Undo {step}</source>
        <translation>撤销：{step}</translation>
    </message>
    <message>
        <source>Redo {step}</source>
        <translation>重做：{step}</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Save to my blocks</source>
        <translation>保存到我的模块</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Replace your block &apos;{name}&apos;?</source>
        <translation>要替换您的模块“{name}”吗？</translation>
    </message>
    <message>
        <source>The block that is saved now is lost.</source>
        <translation>现在保存的模块将会丢失。</translation>
    </message>
    <message>
        <source>The block cannot be saved</source>
        <translation>无法保存模块</translation>
    </message>
    <message>
        <source>{name} was saved: it is in the layer library, under My blocks.</source>
        <translation>已保存 {name}：它位于层库的“我的模块”下。</translation>
    </message>
    <message>
        <source>Rename my block</source>
        <translation>重命名我的模块</translation>
    </message>
    <message>
        <source>The block cannot be renamed</source>
        <translation>无法重命名模块</translation>
    </message>
    <message>
        <source>{name} is in the trash now.</source>
        <translation>{name} 现已移到回收站。</translation>
    </message>
    <message>
        <source>Delete your block &apos;{name}&apos;?</source>
        <translation>要删除您的模块“{name}”吗？</translation>
    </message>
    <message>
        <source>It cannot be moved to the trash here, so it is lost. Networks that use it keep their copies.</source>
        <translation>在此处无法将其移到回收站，因此它会丢失。使用它的网络会保留各自的副本。</translation>
    </message>
    <message>
        <source>The block cannot be deleted</source>
        <translation>无法删除模块</translation>
    </message>
    <message>
        <source>Name of the block</source>
        <translation>模块的名称</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>New layers made from it get this name, with a number if it is taken.</source>
        <translation>由它创建的新层使用此名称；如果已被占用，则加上编号。</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) made. Undo takes them away again.</source>
        <translation>
            <numerusform>已创建 %n 个层。撤销可将其移除。</numerusform>
        </translation>
    </message>
    <message>
        <source>What varies is saved in the project. This installation has no part that trains with it.</source>
        <translation>变化的值已保存在项目中。此安装没有用于据此训练的组件。</translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation>图片 (*.png)</translation>
    </message>
    <message>
        <source>Drawing (*.svg)</source>
        <translation>绘图 (*.svg)</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>Each point is a layer, forward: what it computes per second over what it computes per byte that it moves. Layers on the slope wait for memory, those below the level part for arithmetic. Click a point to select its layer.</source>
        <translation>每个点表示一个层的前向计算：纵轴为每秒的计算量，横轴为每移动一个字节的计算量。位于斜线上的层受内存限制，位于水平线下方的层受算术限制。单击一个点可选择其层。</translation>
    </message>
    <message>
        <source>Roofline</source>
        <translation>屋顶线</translation>
    </message>
    <message>
        <source>Speed of layers, FLOP/s</source>
        <translation>各层的速度，FLOP/s</translation>
    </message>
    <message>
        <source>Save trace…</source>
        <translation>保存跟踪记录…</translation>
    </message>
    <message>
        <source>Profile some steps with torch.profiler and save them for Perfetto or chrome://tracing</source>
        <translation>用 torch.profiler 探查若干步，并保存以供 Perfetto 或 chrome://tracing 使用</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s), {measurement}</source>
        <translation>
            <numerusform>%n 个层，{measurement}</numerusform>
        </translation>
    </message>
    <message>
        <source>Export roofline</source>
        <translation>导出屋顶线</translation>
    </message>
    <message>
        <source>The roofline cannot be exported</source>
        <translation>无法导出屋顶线</translation>
    </message>
    <message>
        <source>Wrote {file}.</source>
        <translation>已写入 {file}。</translation>
    </message>
    <message>
        <source>Save trace</source>
        <translation>保存跟踪记录</translation>
    </message>
    <message>
        <source>Trace (*.json)</source>
        <translation>跟踪记录 (*.json)</translation>
    </message>
    <message>
        <source>Tracing…</source>
        <translation>正在跟踪…</translation>
    </message>
    <message>
        <source>Wrote {file}. Open it in Perfetto or chrome://tracing.</source>
        <translation>已写入 {file}。请在 Perfetto 或 chrome://tracing 中打开。</translation>
    </message>
    <message>
        <source>The trace cannot be saved</source>
        <translation>无法保存跟踪记录</translation>
    </message>
    <message>
        <source>Search actions or keys…</source>
        <translation>搜索操作或按键…</translation>
    </message>
    <message>
        <source>Search actions or keys</source>
        <translation>搜索操作或按键</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>操作</translation>
    </message>
    <message>
        <source>Shortcut</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Actions and their shortcuts</source>
        <translation>操作及其快捷键</translation>
    </message>
    <message>
        <source>New shortcut</source>
        <translation>新快捷键</translation>
    </message>
    <message>
        <source>Fit a temperature</source>
        <translation>拟合温度</translation>
    </message>
    <message>
        <source>Store with the network</source>
        <translation>与网络一起存储</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>expected error {error}</source>
        <translation>期望误差 {error}</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>校准</translation>
    </message>
    <message>
        <source>Temperature {temperature}, fitted on the validation split.</source>
        <translation>温度 {temperature}，在验证部分上拟合。</translation>
    </message>
    <message>
        <source>Stored with the network, which predict applies: {temperature}.</source>
        <translation>已与网络一起存储，预测时采用：{temperature}。</translation>
    </message>
    <message>
        <source>Divide the logits by one number, so that confidences are as high as the accuracy</source>
        <translation>将 logits 除以同一个数，使置信度与准确度一致</translation>
    </message>
    <message>
        <source>Before: expected error {error}</source>
        <translation>之前：期望误差 {error}</translation>
    </message>
    <message>
        <source>After: expected error {error}</source>
        <translation>之后：期望误差 {error}</translation>
    </message>
    <message>
        <source>No shortcut for this action</source>
        <translation>此操作不使用快捷键</translation>
    </message>
    <message>
        <source>Changed from the default</source>
        <translation>已更改默认值</translation>
    </message>
    <message>
        <source>No action matches</source>
        <translation>没有匹配的操作</translation>
    </message>
    <message>
        <source>Click the field, or press Enter, then press the keys.</source>
        <translation>单击该字段或按 Enter，然后按下按键。</translation>
    </message>
    <message>
        <source>Problems and layers</source>
        <translation>问题和层</translation>
    </message>
    <message>
        <source>Timeline of the run</source>
        <translation>运行的时间线</translation>
    </message>
    <message>
        <source>Design</source>
        <translation>设计</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Environment auto</source>
        <translation>环境 auto</translation>
    </message>
    <message>
        <source>Where training runs. Click to choose.</source>
        <translation>训练的运行位置。单击以选择。</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Queue run</source>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>Train the project after {run}</source>
        <translation>在 {run} 之后训练项目</translation>
    </message>
    <message>
        <source>Stop {run} and keep the trained weights</source>
        <translation>停止 {run} 并保留训练所得的权重</translation>
    </message>
    <message>
        <source>○ Engine starting…</source>
        <translation>○ 引擎正在启动…</translation>
    </message>
    <message>
        <source>● Engine ready</source>
        <translation>● 引擎就绪</translation>
    </message>
    <message>
        <source>✕ Engine failed</source>
        <translation>✕ 引擎失败</translation>
    </message>
    <message>
        <source>No errors</source>
        <translation>没有错误</translation>
    </message>
    <message>
        <source>Show the problems</source>
        <translation>显示问题</translation>
    </message>
    <message>
        <source>No weights</source>
        <translation>没有权重</translation>
    </message>
    <message>
        <source>Click for transfer learning.</source>
        <translation>单击以进行迁移学习。</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) ({total:,} with blocks)</source>
        <translation>
            <numerusform>%n 个层（含模块内共 {total:,} 个）</numerusform>
        </translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count} 个参数</translation>
    </message>
    <message>
        <source>{count}FLOPs per sample</source>
        <translation>每个样本 {count}FLOPs</translation>
    </message>
    <message>
        <source>{memory} at batch {batch:,}</source>
        <translation>批量 {batch:,} 时 {memory}</translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n 个错误</numerusform>
        </translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>PNG 图片 (*.png)</translation>
    </message>
    <message>
        <source>SVG drawing (*.svg)</source>
        <translation>SVG 绘图 (*.svg)</translation>
    </message>
    <message>
        <source>PDF document (*.pdf)</source>
        <translation>PDF 文档 (*.pdf)</translation>
    </message>
    <message>
        <source>Vary {path}</source>
        <translation>扫描 {path}</translation>
    </message>
    <message>
        <source>Vary {path} no more</source>
        <translation>不再扫描 {path}</translation>
    </message>
    <message>
        <source>Change training options</source>
        <translation>更改训练选项</translation>
    </message>
    <message>
        <source>A report is about a run: train the network, or choose a run in Runs.</source>
        <translation>报告针对一个运行：请训练网络，或在“运行”中选择一个运行。</translation>
    </message>
    <message>
        <source>There is no run yet</source>
        <translation>尚无运行</translation>
    </message>
    <message>
        <source>Open the folder of a run</source>
        <translation>打开运行的文件夹</translation>
    </message>
    <message>
        <source>This is not a run</source>
        <translation>这不是运行</translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>The picture cannot be saved</source>
        <translation>无法保存图片</translation>
    </message>
    <message>
        <source>Sent to the printer.</source>
        <translation>已发送到打印机。</translation>
    </message>
    <message>
        <source>Use the suggested condition</source>
        <translation>使用建议的条件</translation>
    </message>
    <message>
        <source>Use {suggestion}</source>
        <translation>使用 {suggestion}</translation>
    </message>
    <message>
        <source>Newest first</source>
        <translation>最新的在前</translation>
    </message>
    <message>
        <source>Best first</source>
        <translation>最好的在前</translation>
    </message>
    <message>
        <source>Longest first</source>
        <translation>最长的在前</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>Each run is a row here, with its progress and its result.</source>
        <translation>每个运行在此占一行，显示其进度和结果。</translation>
    </message>
    <message>
        <source>There are runs of other projects in this folder.</source>
        <translation>此文件夹中有其他项目的运行。</translation>
    </message>
    <message>
        <source>Find runs: accuracy &gt; 98</source>
        <translation>查找运行：accuracy &gt; 98</translation>
    </message>
    <message>
        <source>Find runs</source>
        <translation>查找运行</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>扫描</translation>
    </message>
    <message>
        <source>Show all runs</source>
        <translation>显示所有运行</translation>
    </message>
    <message>
        <source>Ctrl+click a second run to compare</source>
        <translation>按住 Ctrl 并单击第二个运行以进行比较</translation>
    </message>
    <message>
        <source>Train the project as it is now; while a run trains, after it</source>
        <translation>按项目的当前状态训练；如果有运行正在训练，则排在其后</translation>
    </message>
    <message>
        <source>Train with many values of options and layers, and compare the trials</source>
        <translation>用选项和层的多组值训练，并比较各次试验</translation>
    </message>
    <message>
        <source>Order of the runs, and the score that is shown</source>
        <translation>运行的顺序，以及所显示的得分</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s), {order}</source>
        <translation>
            <numerusform>%n 个运行，{order}</numerusform>
        </translation>
    </message>
    <message>
        <source>No run matches.</source>
        <translation>没有匹配的运行。</translation>
    </message>
    <message>
        <source>Runs of other projects too</source>
        <translation>同时显示其他项目的运行</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>运行的名称</translation>
    </message>
    <message>
        <source>Number, solver and learn rate</source>
        <translation>编号、求解器和学习率</translation>
    </message>
    <message>
        <source>Resume from the last checkpoint; a complete run gets more epochs</source>
        <translation>从最后一个检查点继续；已完成的运行会增加轮数</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Export network…</source>
        <translation>导出网络…</translation>
    </message>
    <message>
        <source>As ONNX or PyTorch, with the best or the last weights of this run</source>
        <translation>导出为 ONNX 或 PyTorch，使用此运行的最佳权重或最后的权重</translation>
    </message>
    <message>
        <source>Export report…</source>
        <translation>导出报告…</translation>
    </message>
    <message>
        <source>Network, options, curves and results of this run as one HTML file</source>
        <translation>将此运行的网络、选项、曲线和结果保存为一个 HTML 文件</translation>
    </message>
    <message>
        <source>Start from its weights…</source>
        <translation>从其权重开始…</translation>
    </message>
    <message>
        <source>Let the open project start from the result of this run: transfer learning</source>
        <translation>让打开的项目从此运行的结果开始：迁移学习</translation>
    </message>
    <message>
        <source>Change the name of the run (F2)</source>
        <translation>更改运行的名称 (F2)</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>Open an unsaved copy of the project as it was when this run started</source>
        <translation>打开项目在此运行启动时的副本（未保存）</translation>
    </message>
    <message>
        <source>Reuse options</source>
        <translation>重用选项</translation>
    </message>
    <message>
        <source>Copy the training options of this run into the open project; can be undone</source>
        <translation>将此运行的训练选项复制到打开的项目中；可以撤消</translation>
    </message>
    <message>
        <source>Show the folder with the files of the run</source>
        <translation>显示包含此运行的文件的文件夹</translation>
    </message>
    <message>
        <source>Move to trash…</source>
        <translation>移到回收站…</translation>
    </message>
    <message>
        <source>Move the selected runs to the trash, from where the desktop restores them (Del)</source>
        <translation>将所选运行移到回收站，可在桌面环境中还原 (Del)</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>继续…</translation>
    </message>
    <message>
        <source>This run has saved no checkpoint to go on from</source>
        <translation>此运行没有保存可供继续的检查点</translation>
    </message>
    <message>
        <source>Opened a copy of the project of {title}. Save it to keep it.</source>
        <translation>已打开 {title} 的项目副本。要保留它，请保存。</translation>
    </message>
    <message>
        <source>The open project already has these training options.</source>
        <translation>打开的项目已经使用这些训练选项。</translation>
    </message>
    <message>
        <source>Reuse options of a run</source>
        <translation>重用运行的选项</translation>
    </message>
    <message>
        <source>Copied the training options of {title}. Ctrl+Z undoes it.</source>
        <translation>已复制 {title} 的训练选项。按 Ctrl+Z 撤消。</translation>
    </message>
    <message>
        <source>The project of the run cannot be read</source>
        <translation>无法读取此运行的项目</translation>
    </message>
    <message>
        <source>The trials and columns that are shown (*.csv)</source>
        <translation>所显示的试验和列 (*.csv)</translation>
    </message>
    <message>
        <source>All trials as JSON (*.json)</source>
        <translation>所有试验，JSON 格式 (*.json)</translation>
    </message>
    <message>
        <source>Study of optuna, a journal (*.log)</source>
        <translation>optuna 研究，日志格式 (*.log)</translation>
    </message>
    <message>
        <source>Study of optuna, an SQLite database (*.db)</source>
        <translation>optuna 研究，SQLite 数据库 (*.db)</translation>
    </message>
    <message>
        <source>importances of the parameters</source>
        <translation>参数的重要性</translation>
    </message>
    <message>
        <source>Writing the report…</source>
        <translation>正在写入报告…</translation>
    </message>
    <message>
        <source>Budget of the experiment</source>
        <translation>实验的预算</translation>
    </message>
    <message>
        <source>It holds from the next trial on.</source>
        <translation>从下一次试验起生效。</translation>
    </message>
    <message>
        <source>The experiment is then resumed.</source>
        <translation>之后实验将继续。</translation>
    </message>
    <message>
        <source>The trials are those of its {strategy}; other values need another experiment. {text}</source>
        <translation>试验由其策略“{strategy}”给出；其他值需要另一个实验。{text}</translation>
    </message>
    <message>
        <source>Try failed trials again, change the budget, export</source>
        <translation>重试失败的试验、更改预算、导出</translation>
    </message>
    <message>
        <source>Stop after the trials under way</source>
        <translation>在进行中的试验之后停止</translation>
    </message>
    <message>
        <source>Try failed trials again</source>
        <translation>重试失败的试验</translation>
    </message>
    <message>
        <source>Add trials, change the budget…</source>
        <translation>添加试验、更改预算…</translation>
    </message>
    <message>
        <source>Export trials…</source>
        <translation>导出试验…</translation>
    </message>
    <message numerus="yes">
        <source>Try %n failed trial(s) again</source>
        <translation>
            <numerusform>重试 %n 次失败的试验</numerusform>
        </translation>
    </message>
    <message>
        <source>The experiment cannot be read</source>
        <translation>无法读取实验</translation>
    </message>
    <message>
        <source>The folder cannot be opened</source>
        <translation>无法打开文件夹</translation>
    </message>
    <message>
        <source>No program was found that shows {path}.</source>
        <translation>找不到可显示 {path} 的程序。</translation>
    </message>
    <message>
        <source>Export trials</source>
        <translation>导出试验</translation>
    </message>
    <message>
        <source>The trials cannot be exported</source>
        <translation>无法导出试验</translation>
    </message>
    <message>
        <source>Wrote the trials to {name}.</source>
        <translation>已将试验写入 {name}。</translation>
    </message>
    <message>
        <source>{name} is in progress. Stop it first.</source>
        <translation>{name} 正在进行。请先停止它。</translation>
    </message>
    <message>
        <source>{count:,} of them are in progress. Stop it first.</source>
        <translation>其中 {count:,} 个正在进行。请先停止它们。</translation>
    </message>
    <message>
        <source>A run in progress cannot be deleted</source>
        <translation>无法删除正在进行的运行</translation>
    </message>
    <message>
        <source>Move {name} to the trash?</source>
        <translation>要将 {name} 移到回收站吗？</translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to the trash?</source>
        <translation>
            <numerusform>要将 %n 个运行移到回收站吗？</numerusform>
        </translation>
    </message>
    <message>
        <source>Curves, weights and notes are moved too. The desktop&apos;s trash can restore them until it is emptied.</source>
        <translation>曲线、权重和备注也会一起移动。在清空回收站之前可以还原它们。</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>移到回收站</translation>
    </message>
    <message>
        <source>Export the table of runs</source>
        <translation>导出运行表</translation>
    </message>
    <message>
        <source>{path} cannot be written: {strerror}. Choose another folder.</source>
        <translation>无法写入 {path}：{strerror}。请选择其他文件夹。</translation>
    </message>
    <message>
        <source>The table cannot be exported</source>
        <translation>无法导出表</translation>
    </message>
    <message numerus="yes">
        <source>Wrote %n run(s) to {file}.</source>
        <translation>
            <numerusform>已将 %n 个运行写入 {file}。</numerusform>
        </translation>
    </message>
    <message>
        <source>The answers of two runs that have ended can be compared.</source>
        <translation>可以比较两个已结束的运行的回答。</translation>
    </message>
    <message>
        <source>By iteration</source>
        <translation>按迭代</translation>
    </message>
    <message>
        <source>By epoch</source>
        <translation>按轮</translation>
    </message>
    <message>
        <source>By time</source>
        <translation>按时间</translation>
    </message>
    <message>
        <source>Curves and options</source>
        <translation>曲线和选项</translation>
    </message>
    <message>
        <source>Back to one run (Esc)</source>
        <translation>返回单个运行 (Esc)</translation>
    </message>
    <message>
        <source>Horizontal axis of the curves</source>
        <translation>曲线的横轴</translation>
    </message>
    <message>
        <source>Quantity of the left plot</source>
        <translation>左侧绘图的量</translation>
    </message>
    <message>
        <source>Training (solid)</source>
        <translation>训练（实线）</translation>
    </message>
    <message>
        <source>Validation (dashed)</source>
        <translation>验证（虚线）</translation>
    </message>
    <message>
        <source>Logarithmic loss</source>
        <translation>损失取对数</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Smoothing of the training curves</source>
        <translation>训练曲线的平滑程度</translation>
    </message>
    <message>
        <source>Show the whole runs</source>
        <translation>显示整个运行</translation>
    </message>
    <message>
        <source>Show the whole runs again; a double click on a plot does the same</source>
        <translation>重新显示整个运行；双击绘图也可以</translation>
    </message>
    <message>
        <source>Differences only</source>
        <translation>仅显示差异</translation>
    </message>
    <message>
        <source>Compare networks…</source>
        <translation>比较网络…</translation>
    </message>
    <message>
        <source>Results and options of the runs</source>
        <translation>各运行的结果和选项</translation>
    </message>
    <message>
        <source>{count:,} runs compared, curves of the first {most}</source>
        <translation>比较 {count:,} 个运行，显示前 {most} 个的曲线</translation>
    </message>
    <message>
        <source>{count:,} runs compared</source>
        <translation>比较 {count:,} 个运行</translation>
    </message>
    <message>
        <source>Layer by layer, on the canvas</source>
        <translation>在画布上逐层比较</translation>
    </message>
    <message>
        <source>Compares two runs at a time</source>
        <translation>每次比较两个运行</translation>
    </message>
    <message>
        <source>{quantity} of {count} runs</source>
        <translation>{count} 个运行的{quantity}</translation>
    </message>
    <message>
        <source>Run {number}: {path}</source>
        <translation>运行 {number}：{path}</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>{text}
The best of these runs</source>
        <translation>{text}
这些运行中的最佳值</translation>
    </message>
    <message>
        <source>Reading the runs…</source>
        <translation>正在读取运行…</translation>
    </message>
    <message>
        <source>The list is not updated: the process that reads the runs has ended. It restarts when this page is opened again.</source>
        <translation>列表未更新：读取运行的进程已结束。重新打开此页时会重新启动。</translation>
    </message>
    <message>
        <source>The runs cannot be read: {strerror}.</source>
        <translation>无法读取运行：{strerror}。</translation>
    </message>
    <message>
        <source>Curves and results of a run appear here while it trains.</source>
        <translation>训练时，此处显示运行的曲线和结果。</translation>
    </message>
    <message>
        <source>Options</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>Save the changes to {title}?</source>
        <translation>要保存对 {title} 的更改吗？</translation>
    </message>
    <message>
        <source>Without saving they are lost.</source>
        <translation>如果不保存，更改将会丢失。</translation>
    </message>
    <message>
        <source>The run can continue in the background; the next window shows it. The trained weights are kept either way.</source>
        <translation>运行可以在后台继续；下一个窗口会显示它。无论如何选择，训练所得的权重都会保留。</translation>
    </message>
    <message numerus="yes">
        <source>In the queue: %n run(s), trained after it if it continues; otherwise the queue is kept for later.</source>
        <translation>
            <numerusform>队列中有 %n 个运行：如果它继续，则在其之后训练；否则队列会保留到以后。</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} is training.</source>
        <translation>{name} 正在训练。</translation>
    </message>
    <message>
        <source>Keep training</source>
        <translation>继续训练</translation>
    </message>
    <message>
        <source>Stop training</source>
        <translation>停止训练</translation>
    </message>
    <message numerus="yes">
        <source>%n experiment(s) in progress: {names}.</source>
        <translation>
            <numerusform>%n 个实验正在进行：{names}。</numerusform>
        </translation>
    </message>
    <message>
        <source>The trials can continue in the background; the start page of the next window shows how far they are. What they have reached is kept either way, and a stopped experiment can go on later.</source>
        <translation>试验可以在后台继续；下一个窗口的起始页会显示其进度。无论如何选择，已取得的结果都会保留，停止的实验以后可以继续。</translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation>继续进行</translation>
    </message>
    <message>
        <source>It goes on with the data as it is now. Samples that it has trained on may be in validation and test.</source>
        <translation>它将使用现在的数据继续。训练过的样本可能会出现在验证和测试中。</translation>
    </message>
    <message>
        <source>The data of this run has changed since it trained</source>
        <translation>自训练以来，此运行的数据已发生变化</translation>
    </message>
    <message>
        <source>It may hold a network, such as source that Netwright exported, or Python code that makes data.</source>
        <translation>它可能包含网络（例如由 Netwright 导出的源代码），也可能是生成数据的 Python 代码。</translation>
    </message>
    <message>
        <source>What is {name}?</source>
        <translation>{name} 是什么？</translation>
    </message>
    <message>
        <source>Import the network</source>
        <translation>导入网络</translation>
    </message>
    <message>
        <source>Use it as data</source>
        <translation>用作数据</translation>
    </message>
    <message>
        <source>{files:,} files are asked for there.</source>
        <translation>将从那里请求 {files:,} 个文件。</translation>
    </message>
    <message>
        <source>{files:,} files are asked for at {host}.</source>
        <translation>将从 {host} 请求 {files:,} 个文件。</translation>
    </message>
    <message>
        <source>The address is in {name}, and nothing was sent there yet.</source>
        <translation>该地址来自 {name}，尚未向其发送任何内容。</translation>
    </message>
    <message>
        <source>Netwright remembers your answer for it.</source>
        <translation>Netwright 会记住您对它的回答。</translation>
    </message>
    <message>
        <source>To learn the sizes of layers, to train and to export, Netwright has to run it. Code that runs has all your rights: it can read, change and delete your files, and reach the network.

Trust it only if you know who wrote what is in the folder. Netwright remembers it, with all folders inside.</source>
        <translation>为了获知层的大小、进行训练和导出，Netwright 必须运行这些代码。运行的代码拥有您的全部权限：它可以读取、更改和删除您的文件，并访问网络。

仅当您知道文件夹中的内容由谁编写时才信任它。Netwright 会记住该文件夹及其中的所有文件夹。</translation>
    </message>
    <message>
        <source>This project brings Python code of its own. May it run?</source>
        <translation>此项目自带 Python 代码。是否允许运行？</translation>
    </message>
    <message>
        <source>An assistant</source>
        <translation>助手</translation>
    </message>
    <message>
        <source>An assistant wants to start a run of {name}.</source>
        <translation>助手想要启动 {name} 的一次运行。</translation>
    </message>
    <message>
        <source>{client} asks for it. The run takes the file of the project as it was saved.</source>
        <translation>请求来自 {client}。运行使用项目文件最后保存的内容。</translation>
    </message>
    <message>
        <source>Start run</source>
        <translation>启动运行</translation>
    </message>
    <message>
        <source>It has waited for too long, and no run was started. Press Train to start one yourself.</source>
        <translation>助手等待时间过长，没有启动任何运行。要自行启动，请按“训练”。</translation>
    </message>
    <message>
        <source>The assistant has given up</source>
        <translation>助手已放弃等待</translation>
    </message>
    <message>
        <source>An assistant proposes changes to {name}.</source>
        <translation>助手建议更改 {name}。</translation>
    </message>
    <message>
        <source>{client} has written {file} beside it. The project is as it was.</source>
        <translation>{client} 已在同一文件夹中写入 {file}。项目本身没有改变。</translation>
    </message>
    <message>
        <source>Show changes</source>
        <translation>显示更改</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>以及另外 %n 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>in the folder(s)</source>
        <translation>
            <numerusform>位于以下文件夹</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Trust the folder(s)</source>
        <translation>
            <numerusform>信任文件夹</numerusform>
        </translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不</translation>
    </message>
    <message>
        <source>Experiment finished</source>
        <translation>实验已完成</translation>
    </message>
    <message>
        <source>Experiment stopped</source>
        <translation>实验已停止</translation>
    </message>
    <message>
        <source>Experiment failed</source>
        <translation>实验失败</translation>
    </message>
    <message>
        <source>Experiment lost</source>
        <translation>实验已丢失</translation>
    </message>
    <message numerus="yes">
        <source>{over:,} of %n trial(s) ended.</source>
        <translation>
            <numerusform>%n 次试验中的 {over:,} 次已结束。</numerusform>
        </translation>
    </message>
    <message>
        <source>All plots are hidden. Plots, below, shows them again.</source>
        <translation>所有绘图均已隐藏。可用下方的“绘图”重新显示。</translation>
    </message>
    <message>
        <source>Plots</source>
        <translation>绘图</translation>
    </message>
    <message>
        <source>Show or hide plots: accuracy, loss, learn rate, speed, memory, step time, other metrics</source>
        <translation>显示或隐藏绘图：准确度、损失、学习率、速度、内存、步耗时、其他度量</translation>
    </message>
    <message>
        <source>Confusion matrix</source>
        <translation>混淆矩阵</translation>
    </message>
    <message>
        <source>Copy or save this figure</source>
        <translation>复制或保存此图</translation>
    </message>
    <message>
        <source>Export {title}</source>
        <translation>导出 {title}</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG…</source>
        <translation>另存为 PNG…</translation>
    </message>
    <message>
        <source>Save as SVG…</source>
        <translation>另存为 SVG…</translation>
    </message>
    <message>
        <source>Save values as CSV…</source>
        <translation>将值另存为 CSV…</translation>
    </message>
    <message>
        <source>Save {title}</source>
        <translation>保存 {title}</translation>
    </message>
    <message>
        <source>{path} cannot be written: {strerror}.</source>
        <translation>无法写入 {path}：{strerror}。</translation>
    </message>
    <message>
        <source>The figure cannot be saved</source>
        <translation>无法保存此图</translation>
    </message>
    <message>
        <source>These runs have no {quantity} to show.</source>
        <translation>这些运行没有可显示的{quantity}。</translation>
    </message>
    <message>
        <source>Split of the confusion matrix</source>
        <translation>混淆矩阵的数据部分</translation>
    </message>
    <message>
        <source>Hide this plot</source>
        <translation>隐藏此绘图</translation>
    </message>
    <message>
        <source>Close {title}</source>
        <translation>关闭 {title}</translation>
    </message>
    <message>
        <source>{count:,} of {total:,} correct</source>
        <translation>{total:,} 个中有 {count:,} 个正确</translation>
    </message>
    <message>
        <source>Most frequent errors</source>
        <translation>最常见的错误</translation>
    </message>
    <message>
        <source>{name}: {count:,} of {total:,} predicted correctly</source>
        <translation>{name}：{total:,} 个中有 {count:,} 个预测正确</translation>
    </message>
    <message>
        <source>{name}: {count:,} of {total:,} predicted as {other}</source>
        <translation>{name}：{total:,} 个中有 {count:,} 个被预测为 {other}</translation>
    </message>
    <message>
        <source>Precision</source>
        <comment>metric</comment>
        <translation>精确率</translation>
    </message>
    <message>
        <source>Recall</source>
        <comment>metric</comment>
        <translation>召回率</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Actual</source>
        <translation>实际</translation>
    </message>
    <message>
        <source>Curves</source>
        <comment>plot</comment>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Learning curves</source>
        <translation>学习曲线</translation>
    </message>
    <message>
        <source>A line per trial; with repeats or folds their mean, and a band one standard deviation wide on each side.</source>
        <translation>每次试验一条线；有重复或折时为其均值，两侧各有一个标准差宽的带。</translation>
    </message>
    <message>
        <source>log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Curve</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Logarithmic vertical axis</source>
        <translation>对数纵轴</translation>
    </message>
    <message>
        <source>Curves of trials are shown here as they train.</source>
        <translation>试验训练时，此处显示其曲线。</translation>
    </message>
    <message numerus="yes">
        <source>the best {shown} of %n trial(s)</source>
        <translation>
            <numerusform>%n 次试验中最佳的 {shown} 次</numerusform>
        </translation>
    </message>
    <message>
        <source>Logarithmic axis of {title}</source>
        <translation>{title} 的对数轴</translation>
    </message>
    <message>
        <source>{curve} after iteration {step:,.0f}</source>
        <translation>第 {step:,.0f} 次迭代后的{curve}</translation>
    </message>
    <message>
        <source>Save the plots as PNG or SVG, or all values as CSV</source>
        <translation>将绘图保存为 PNG 或 SVG，或将所有值保存为 CSV</translation>
    </message>
    <message>
        <source>Plots as PNG…</source>
        <translation>绘图另存为 PNG…</translation>
    </message>
    <message>
        <source>Plots as SVG…</source>
        <translation>绘图另存为 SVG…</translation>
    </message>
    <message>
        <source>Values as CSV…</source>
        <translation>值另存为 CSV…</translation>
    </message>
    <message>
        <source>Export the curves</source>
        <translation>导出曲线</translation>
    </message>
    <message>
        <source>Replace these files?</source>
        <translation>要替换这些文件吗？</translation>
    </message>
    <message>
        <source>Writing the curves…</source>
        <translation>正在写入曲线…</translation>
    </message>
    <message>
        <source>The curves cannot be exported</source>
        <translation>无法导出曲线</translation>
    </message>
    <message>
        <source>{name} cannot be written: {strerror}.</source>
        <translation>无法写入 {name}：{strerror}。</translation>
    </message>
    <message>
        <source>Number of {of} by {unit}</source>
        <translation>按{unit}统计的{of}数量</translation>
    </message>
    <message>
        <source>{first:,.0f} to {last:,.0f}</source>
        <translation>{first:,.0f} 到 {last:,.0f}</translation>
    </message>
    <message>
        <source>{first} to {last}</source>
        <translation>{first} 到 {last}</translation>
    </message>
    <message>
        <source>Curves: {names}</source>
        <translation>曲线：{names}</translation>
    </message>
    <message>
        <source>Accuracy against size is shown here as soon as it is measured.</source>
        <translation>测量后，此处显示准确度与大小的关系。</translation>
    </message>
    <message>
        <source>billion weights</source>
        <translation>十亿个权重</translation>
    </message>
    <message>
        <source>million weights</source>
        <translation>百万个权重</translation>
    </message>
    <message>
        <source>thousand weights</source>
        <translation>千个权重</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>个权重</translation>
    </message>
    <message>
        <source>Score by weights that are kept</source>
        <translation>得分与保留的权重的关系</translation>
    </message>
    <message>
        <source>{metric} by weights that are not zero</source>
        <translation>{metric}与非零权重的关系</translation>
    </message>
    <message>
        <source>{share} removed</source>
        <translation>已移除 {share}</translation>
    </message>
    <message numerus="yes">
        <source>%n weight(s)</source>
        <translation>
            <numerusform>%n 个权重</numerusform>
        </translation>
    </message>
    <message>
        <source>Learn rate over the run</source>
        <translation>运行中的学习率</translation>
    </message>
    <message>
        <source>{caption}. From {first} to {last}, at most {most}.</source>
        <translation>{caption}。从 {first} 到 {last}，最大 {most}。</translation>
    </message>
    <message numerus="yes">
        <source>Learn rate over %n iteration(s), each of all samples</source>
        <translation>
            <numerusform>%n 次迭代中的学习率，每次使用所有样本</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s)</source>
        <translation>
            <numerusform>%n 轮</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n iteration(s)</source>
        <translation>
            <numerusform>%n 次迭代</numerusform>
        </translation>
    </message>
    <message>
        <source>Learn rate over {epochs}, {iterations}</source>
        <translation>{epochs}、{iterations}中的学习率</translation>
    </message>
    <message>
        <source>{range}, as long as validations get better</source>
        <translation>{range}，只要验证不断改进</translation>
    </message>
    <message>
        <source>{range}: {count} per epoch are assumed, as there is no data yet</source>
        <translation>{range}：因尚无数据，假定每轮 {count} 次</translation>
    </message>
    <message>
        <source>iteration</source>
        <translation>迭代</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>Speed of layers by arithmetic intensity</source>
        <translation>各层的速度与算术强度的关系</translation>
    </message>
    <message>
        <source>Layers with floating-point operations are shown here as they are measured.</source>
        <translation>测量后，此处显示含浮点运算的层。</translation>
    </message>
    <message>
        <source>FLOP per byte</source>
        <translation>FLOP/字节</translation>
    </message>
    <message>
        <source>{speed}, {intensity} FLOP per byte</source>
        <translation>{speed}，{intensity} FLOP/字节</translation>
    </message>
    <message>
        <source>{share} of what the device allows</source>
        <translation>达到设备上限的 {share}</translation>
    </message>
    <message>
        <source>Reading the run…</source>
        <translation>正在读取运行…</translation>
    </message>
    <message>
        <source>The {name} appears here when training starts.</source>
        <translation>训练开始后，此处显示{name}。</translation>
    </message>
    <message>
        <source>Not a number at {step:,.0f}, {count:,} in all</source>
        <translation>第 {step:,.0f} 次迭代的值不是数，共 {count:,} 个</translation>
    </message>
    <message>
        <source>Not a number at {step:,.0f}</source>
        <translation>第 {step:,.0f} 次迭代的值不是数</translation>
    </message>
    <message>
        <source>{split} at {step:,.0f}</source>
        <translation>{split}，迭代 {step:,.0f}</translation>
    </message>
    <message>
        <source>at {step:,.0f}</source>
        <translation>迭代 {step:,.0f}</translation>
    </message>
    <message>
        <source>resumed: {reason}</source>
        <translation>已继续：{reason}</translation>
    </message>
    <message>
        <source>resumed</source>
        <translation>已继续</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>The engine process ended before it answered. It is started anew; try again.</source>
        <translation>引擎进程在回答之前已结束。它正在重新启动；请重试。</translation>
    </message>
    <message>
        <source>A defect of Netwright: {text}. The details are in {file}.</source>
        <translation>Netwright 的缺陷：{text}。详细信息在 {file} 中。</translation>
    </message>
    <message>
        <source>A defect of Netwright: {text}</source>
        <translation>Netwright 的缺陷：{text}</translation>
    </message>
    <message>
        <source>The engine cannot be started.</source>
        <translation>无法启动引擎。</translation>
    </message>
    <message>
        <source>The engine ended {times} times in a row. Try `netwright-engine devices`.</source>
        <translation>引擎连续结束了 {times} 次。请尝试 `netwright-engine devices`。</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>Changed since the previous run</source>
        <translation>与上一个运行相比的更改</translation>
    </message>
    <message>
        <source>Facts</source>
        <translation>概况</translation>
    </message>
    <message>
        <source>Options that are not listed have their default values.</source>
        <translation>未列出的选项均为默认值。</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Likeliest classes</source>
        <translation>最可能的类别</translation>
    </message>
    <message>
        <source>The sample as the network gets it</source>
        <translation>网络所接收到的样本</translation>
    </message>
    <message>
        <source>Classes of the pixels</source>
        <translation>像素的类别</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>答案</translation>
    </message>
    <message>
        <source>Strength of the classes over the picture</source>
        <translation>类别叠加在图片上的强度</translation>
    </message>
    <message>
        <source>The first {count:,} of {total:,}. The CSV file has all.</source>
        <translation>{total:,} 个中的前 {count:,} 个。CSV 文件包含全部。</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Environment {target}</source>
        <translation>环境 {target}</translation>
    </message>
    <message numerus="yes">
        <source>%n worker(s)</source>
        <translation>
            <numerusform>%n 个工作单元</numerusform>
        </translation>
    </message>
    <message>
        <source>not available</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>running</source>
        <translation>正在进行</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>lost</source>
        <translation>已丢失</translation>
    </message>
    <message>
        <source>Training on {hardware}: {parameters:,} parameters, {iterations:,} iterations</source>
        <translation>在 {hardware} 上训练：{parameters:,} 个参数，{iterations:,} 次迭代</translation>
    </message>
    <message>
        <source>Skipped, because it cannot be read: {sample}: {reason}</source>
        <translation>因无法读取而跳过：{sample}：{reason}</translation>
    </message>
    <message>
        <source>Requested: {request}, at iteration {iteration:,}</source>
        <translation>已请求：{request}，在第 {iteration:,} 次迭代</translation>
    </message>
    <message>
        <source>Refused: {request}, at iteration {iteration:,}: {reason}</source>
        <translation>已拒绝：{request}，在第 {iteration:,} 次迭代：{reason}</translation>
    </message>
    <message>
        <source>Checkpoint after iteration {iteration:,}, in {seconds:.2f} s</source>
        <translation>第 {iteration:,} 次迭代后的检查点，用时 {seconds:.2f} s</translation>
    </message>
    <message>
        <source>Resumed after iteration {iteration:,}: {explanation}</source>
        <translation>在第 {iteration:,} 次迭代后继续：{explanation}</translation>
    </message>
    <message>
        <source>Failed: {cause}</source>
        <translation>失败：{cause}</translation>
    </message>
    <message>
        <source>Run {state}: {reason}</source>
        <translation>运行{state}：{reason}</translation>
    </message>
    <message>
        <source>Run {state}</source>
        <translation>运行{state}</translation>
    </message>
    <message>
        <source>No messages yet.</source>
        <translation>尚无消息。</translation>
    </message>
    <message>
        <source>No output of the engine yet.</source>
        <translation>引擎尚无输出。</translation>
    </message>
    <message>
        <source>Messages of the run</source>
        <translation>运行的消息</translation>
    </message>
    <message>
        <source>Output of the engine</source>
        <translation>引擎的输出</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Engine log</source>
        <translation>引擎日志</translation>
    </message>
    <message>
        <source>Output of the run&apos;s processes: engine.log in its folder</source>
        <translation>此运行的进程的输出：其文件夹中的 engine.log</translation>
    </message>
    <message>
        <source>Tags of the run</source>
        <translation>运行的标签</translation>
    </message>
    <message>
        <source>Notes on this run</source>
        <translation>关于此运行的备注</translation>
    </message>
    <message>
        <source>Note on the run</source>
        <translation>运行的备注</translation>
    </message>
    <message>
        <source>Tags of the trial</source>
        <translation>试验的标签</translation>
    </message>
    <message>
        <source>Notes on this trial</source>
        <translation>关于此试验的备注</translation>
    </message>
    <message>
        <source>Note on the trial</source>
        <translation>试验的备注</translation>
    </message>
    <message>
        <source>Tags, separated by commas</source>
        <translation>标签，以逗号分隔</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Note</source>
        <comment>of a run</comment>
        <translation>备注</translation>
    </message>
    <message>
        <source>The queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Queued: {title} ({num_waiting:,} waiting).</source>
        <translation>已加入队列：{title}（{num_waiting:,} 个在等待）。</translation>
    </message>
    <message numerus="yes">
        <source>%n more run(s) of this project in progress, listed in Runs.</source>
        <translation>
            <numerusform>此项目另有 %n 个运行正在进行，列在“运行”中。</numerusform>
        </translation>
    </message>
    <message>
        <source>Runs shows {name}, the newest of {count:,} in progress.</source>
        <translation>“运行”显示 {name}，它是正在进行的 {count:,} 个中最新的一个。</translation>
    </message>
    <message>
        <source>Runs shows {name}, which is in progress.</source>
        <translation>“运行”显示正在进行的 {name}。</translation>
    </message>
    <message>
        <source>There is no network to train yet. Make one for the data first.</source>
        <translation>尚无可训练的网络。请先为数据创建一个。</translation>
    </message>
    <message>
        <source>There is no network to train yet. Add an input layer and the layers after it first.</source>
        <translation>尚无可训练的网络。请先添加一个输入层及其后的层。</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s) to solve before training.</source>
        <translation>
            <numerusform>训练前要解决 %n 个问题。</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose data first: the network learns from it.</source>
        <translation>请先选择数据：网络从中学习。</translation>
    </message>
    <message>
        <source>The data is at {hosts}. Fetch it first.</source>
        <translation>数据位于 {hosts}。请先获取它。</translation>
    </message>
    <message>
        <source>Start queue</source>
        <translation>启动队列</translation>
    </message>
    <message>
        <source>The queue is not running: train its runs in order</source>
        <translation>队列未在进行：按顺序训练其中的运行</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Shares the machine with {shares}</source>
        <translation>与 {shares} 共用此计算机</translation>
    </message>
    <message numerus="yes">
        <source>Beside %n run(s) of other projects in the queue</source>
        <translation>
            <numerusform>队列中还有其他项目的 %n 个运行</numerusform>
        </translation>
    </message>
    <message>
        <source>… and {count:,} more</source>
        <translation>… 以及另外 {count:,} 个</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>上移</translation>
    </message>
    <message>
        <source>Already the next one</source>
        <translation>已是下一个</translation>
    </message>
    <message>
        <source>Train now</source>
        <translation>立即训练</translation>
    </message>
    <message>
        <source>Remove from the queue</source>
        <translation>从队列中移除</translation>
    </message>
    <message>
        <source>Waiting for another run to end</source>
        <translation>正在等待另一个运行结束</translation>
    </message>
    <message>
        <source>Waiting for its turn</source>
        <translation>正在排队等待</translation>
    </message>
    <message>
        <source>The processes of this run ended without a result, as after a crash or a power cut.</source>
        <translation>此运行的进程结束但没有结果，例如崩溃或断电之后。</translation>
    </message>
    <message>
        <source>Resume continues from the last checkpoint.</source>
        <translation>“继续”会从最后一个检查点继续。</translation>
    </message>
    <message>
        <source>It had saved no checkpoint to go on from.</source>
        <translation>它没有保存可供继续的检查点。</translation>
    </message>
    <message>
        <source>Training finished</source>
        <translation>训练已完成</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Lost</source>
        <translation>已丢失</translation>
    </message>
    <message>
        <source>{state}: {reason}</source>
        <translation>{state}：{reason}</translation>
    </message>
    <message>
        <source>Progress of the run</source>
        <translation>运行的进度</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>为什么？</translation>
    </message>
    <message>
        <source>Look for the cause: Run &gt; Doctor, at this finding</source>
        <translation>查找原因：“运行”&gt;“诊断”，定位到此项检查结果</translation>
    </message>
    <message>
        <source>Less memory, the same mini-batch, the same numbers</source>
        <translation>占用更少内存，小批量和数值不变</translation>
    </message>
    <message>
        <source>Resume with {count:,} micro-batches per step</source>
        <translation>以每步 {count:,} 个微批量继续</translation>
    </message>
    <message>
        <source>Start again with {count:,} micro-batches per step</source>
        <translation>以每步 {count:,} 个微批量重新开始</translation>
    </message>
    <message>
        <source>Resume with {setting}</source>
        <translation>以 {setting} 继续</translation>
    </message>
    <message>
        <source>Start again with {setting}</source>
        <translation>以 {setting} 重新开始</translation>
    </message>
    <message>
        <source>{epochs} in {time}</source>
        <translation>{epochs}，用时 {time}</translation>
    </message>
    <message>
        <source>{metric}, {split}</source>
        <translation>{metric}，{split}</translation>
    </message>
    <message>
        <source>{count:,} {split}</source>
        <translation>{count:,} 个{split}</translation>
    </message>
    <message>
        <source>{counts} samples</source>
        <translation>{counts}样本</translation>
    </message>
    <message>
        <source>No run is shown. Train the network, or choose a run in Runs.</source>
        <translation>没有显示运行。请训练网络，或在“运行”中选择一个运行。</translation>
    </message>
    <message>
        <source>Epoch that is looked at</source>
        <translation>正在查看的轮</translation>
    </message>
    <message>
        <source>Drag to look at an earlier epoch; at the right end it follows the run</source>
        <translation>拖动可查看较早的轮；位于右端时跟随运行</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Go to live</source>
        <translation>转到最新</translation>
    </message>
    <message>
        <source>Follow the run again</source>
        <translation>重新跟随运行</translation>
    </message>
    <message>
        <source>Epoch before</source>
        <translation>上一轮</translation>
    </message>
    <message>
        <source>Next epoch</source>
        <translation>下一轮</translation>
    </message>
    <message>
        <source>Close the timeline; View &gt; Panels shows it again</source>
        <translation>关闭时间线；可用“查看”&gt;“面板”重新显示</translation>
    </message>
    <message>
        <source>Close the timeline of the run</source>
        <translation>关闭运行的时间线</translation>
    </message>
    <message>
        <source>No run</source>
        <translation>无运行</translation>
    </message>
    <message>
        <source>Stop {run} (Shift+F5)</source>
        <translation>停止 {run} (Shift+F5)</translation>
    </message>
    <message>
        <source>newest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>at epoch {epoch}</source>
        <translation>在第 {epoch} 轮</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>更改</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>刚刚</translation>
    </message>
    <message>
        <source>{count} min ago</source>
        <translation>{count} 分钟前</translation>
    </message>
    <message>
        <source>{count} h ago</source>
        <translation>{count} 小时前</translation>
    </message>
    <message>
        <source>yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>{count} days ago</source>
        <translation>{count} 天前</translation>
    </message>
    <message>
        <source>Starting</source>
        <comment>state</comment>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Training</source>
        <comment>state</comment>
        <translation>正在训练</translation>
    </message>
    <message>
        <source>Not responding</source>
        <comment>state</comment>
        <translation>无响应</translation>
    </message>
    <message>
        <source>Stopping</source>
        <comment>state</comment>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Paused</source>
        <comment>state</comment>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Finished</source>
        <comment>state</comment>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Stopped</source>
        <comment>state</comment>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <comment>state</comment>
        <translation>失败</translation>
    </message>
    <message>
        <source>Lost</source>
        <comment>state</comment>
        <translation>已丢失</translation>
    </message>
    <message>
        <source>Not started</source>
        <comment>state</comment>
        <translation>未启动</translation>
    </message>
    <message>
        <source>Damaged</source>
        <comment>state</comment>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>{split} {metric}</source>
        <translation>{split} {metric}</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
    <message>
        <source>{score} at {iteration:,}</source>
        <translation>{score}，迭代 {iteration:,}</translation>
    </message>
    <message>
        <source>learn rate {rate} from iteration {iteration:,} on</source>
        <translation>从第 {iteration:,} 次迭代起学习率为 {rate}</translation>
    </message>
    <message>
        <source>Learn rate {before} → {after}</source>
        <translation>学习率 {before} → {after}</translation>
    </message>
    <message>
        <source>Shares of the time of recent steps</source>
        <translation>最近各步的时间比例</translation>
    </message>
    <message>
        <source>Step time: {shares}</source>
        <translation>步耗时：{shares}</translation>
    </message>
    <message>
        <source>This installation has no part for that.</source>
        <translation>此安装没有用于该功能的组件。</translation>
    </message>
    <message>
        <source>Close the tour</source>
        <translation>关闭教程</translation>
    </message>
    <message>
        <source>Close the tour (Esc)</source>
        <translation>关闭教程 (Esc)</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>目录</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>手册</translation>
    </message>
    <message>
        <source>This installation has no manual.</source>
        <translation>此安装不含手册。</translation>
    </message>
    <message>
        <source>Manual: {page}</source>
        <translation>手册：{page}</translation>
    </message>
    <message>
        <source>Back</source>
        <comment>step</comment>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Show me</source>
        <translation>演示给我看</translation>
    </message>
    <message>
        <source>The step before (Left)</source>
        <translation>上一步（向左键）</translation>
    </message>
    <message>
        <source>Let the tour do it</source>
        <translation>由教程完成此操作</translation>
    </message>
    <message>
        <source>A network on the canvas</source>
        <translation>画布上的网络</translation>
    </message>
    <message>
        <source>This network reads handwritten digits. Each box is a layer, and the data flows along the lines, from this input to the answer at the end.</source>
        <translation>此网络识别手写数字。每个方框是一个层，数据沿连线流动，从这里的输入流向末端的答案。</translation>
    </message>
    <message>
        <source>Each connection shows the size of what flows through it, such as 16 channels of 8 × 8 pixels. Sizes follow by themselves when you change a layer.</source>
        <translation>每个连接显示流经其中的数据的大小，例如 8 × 8 像素的 16 个通道。更改层时，大小会自动随之变化。</translation>
    </message>
    <message>
        <source>What is wrong stands here in plain words, with a remedy where there is one. One layer lacks an input: a click on the line leads to it.</source>
        <translation>此处用通俗的语言说明问题，并在可能时给出解决办法。有一个层缺少输入：单击该行可转到该层。</translation>
    </message>
    <message>
        <source>Connect layers by dragging from the output of ‘skip’, at its bottom, to the open input of ‘add’.</source>
        <translation>从“skip”底部的输出拖到“add”未连接的输入，即可连接这两个层。</translation>
    </message>
    <message>
        <source>Add a layer: select the one that it is to follow, then search here for ‘dropout’ and press Enter. The names of PyTorch, Keras and MATLAB work.</source>
        <translation>添加层：选择它要跟随的层，然后在此处搜索“dropout”并按 Enter。也可以使用 PyTorch、Keras 和 MATLAB 中的名称。</translation>
    </message>
    <message>
        <source>The fields of the selected layer are here. Change the probability of the dropout layer to 0.25.</source>
        <translation>所选层的字段在这里。请将丢弃层的概率更改为 0.25。</translation>
    </message>
    <message>
        <source>Every step can be undone and redone, as far back as you like. So try things out.</source>
        <translation>每一步都可以撤销和重做，想退回多远都可以。请放心尝试。</translation>
    </message>
    <message>
        <source>Drop a file or a folder of yours anywhere in the window, or choose one here: pictures, tables, series, texts or sounds. For now, take the digits that come with Netwright.</source>
        <translation>将您的文件或文件夹拖放到窗口的任意位置，或在此处选择：图片、表格、序列、文本或声音。现在请使用 Netwright 自带的手写数字。</translation>
    </message>
    <message>
        <source>Look at the samples first: are they what you expect, and do the names below them fit?</source>
        <translation>请先查看样本：它们是否符合您的预期，下方的名称是否匹配？</translation>
    </message>
    <message>
        <source>This sentence says how the data is read. Its words are buttons: click the split to keep more or fewer samples for validation and test.</source>
        <translation>这句话说明如何读取数据。其中的词是按钮：单击拆分方式，可为验证和测试保留更多或更少的样本。</translation>
    </message>
    <message>
        <source>The sentence has what matters most. Every other option of the data is behind ‘All settings’.</source>
        <translation>这句话包含最重要的内容。数据的其他选项都在“全部设置”中。</translation>
    </message>
    <message>
        <source>From the data, Netwright proposes a network that fits it. Make it, and change it as you like.</source>
        <translation>Netwright 根据数据建议与之适合的网络。请创建它，并按您的需要更改。</translation>
    </message>
    <message>
        <source>How the network is trained is set in the training options.</source>
        <translation>网络的训练方式在训练选项中设置。</translation>
    </message>
    <message>
        <source>First, where it trains: on the processor, on a graphics card, on several, or on a cluster. ‘Auto’ takes what is fastest here.</source>
        <translation>首先是训练的位置：处理器、一块或多块显卡，或集群。“Auto”采用此处最快的方式。</translation>
    </message>
    <message>
        <source>The defaults suit most networks. An epoch is one pass through the training data: set the most to 5.</source>
        <translation>默认值适合大多数网络。一轮是对训练数据的一次遍历：请将最大轮数设置为 5。</translation>
    </message>
    <message>
        <source>Find any option by typing a word of it here. The names of PyTorch and of MATLAB’s trainingOptions work, too.</source>
        <translation>在此处键入选项中的词即可找到任意选项。也可以使用 PyTorch 和 MATLAB 的 trainingOptions 中的名称。</translation>
    </message>
    <message>
        <source>OK keeps the options in the project. They hold for the next run.</source>
        <translation>单击“确定”可将选项保留在项目中。它们对下一个运行生效。</translation>
    </message>
    <message>
        <source>One moment…</source>
        <translation>请稍候…</translation>
    </message>
    <message>
        <source>{number} of {count} · {title}</source>
        <translation>第 {number} 章，共 {count} 章 · {title}</translation>
    </message>
    <message>
        <source>Step {number} of {count}</source>
        <translation>第 {number} 步，共 {count} 步</translation>
    </message>
    <message>
        <source>Finish</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Next chapter</source>
        <translation>下一章</translation>
    </message>
    <message>
        <source>Next</source>
        <comment>step</comment>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>正在处理…</translation>
    </message>
    <message>
        <source>✓ Done</source>
        <translation>✓ 完成</translation>
    </message>
    <message>
        <source>The tour cannot be started: {reason}.</source>
        <translation>无法启动教程：{reason}。</translation>
    </message>
    <message>
        <source>The tour opens in a window of its own.</source>
        <translation>教程在单独的窗口中打开。</translation>
    </message>
    <message>
        <source>New here? Take the tour: six chapters of two minutes.</source>
        <translation>第一次使用？请观看教程：共六章，每章两分钟。</translation>
    </message>
    <message>
        <source>Start the tour</source>
        <translation>开始教程</translation>
    </message>
    <message>
        <source>Help &gt; Tour has it at any time</source>
        <translation>随时可通过“帮助”&gt;“教程”打开</translation>
    </message>
    <message>
        <source>Tour — Netwright</source>
        <translation>教程 — Netwright</translation>
    </message>
    <message>
        <source>the run of {project}</source>
        <translation>{project} 的运行</translation>
    </message>
    <message>
        <source>run {number} ({project})</source>
        <translation>运行 {number} ({project})</translation>
    </message>
    <message>
        <source>{run} continues.</source>
        <translation>{run} 仍在继续。</translation>
    </message>
    <message>
        <source>The run cannot begin</source>
        <translation>运行无法开始</translation>
    </message>
    <message>
        <source>The run cannot be shown</source>
        <translation>无法显示运行</translation>
    </message>
    <message>
        <source>The run cannot be stopped</source>
        <translation>无法停止运行</translation>
    </message>
    <message>
        <source>The run cannot be asked</source>
        <translation>无法向运行发送请求</translation>
    </message>
    <message>
        <source>The run has not said its learn rate yet. Try again in a moment.</source>
        <translation>运行尚未报告其学习率。请稍后重试。</translation>
    </message>
    <message>
        <source>Another run is in progress. Stop it first, or resume this one later.</source>
        <translation>另一个运行正在进行。请先停止它，或稍后再继续此运行。</translation>
    </message>
    <message>
        <source>The run cannot be resumed</source>
        <translation>无法继续运行</translation>
    </message>
    <message>
        <source>Save the project first: trust belongs to the folder that it lies in.</source>
        <translation>请先保存项目：信任属于项目所在的文件夹。</translation>
    </message>
    <message>
        <source>The code cannot be trusted yet</source>
        <translation>还无法信任代码</translation>
    </message>
    <message>
        <source>The project&apos;s own code does not run. Network &gt; Trust the project&apos;s code asks again.</source>
        <translation>项目自带的代码不会运行。选择“网络”&gt;“信任项目的代码”可再次询问。</translation>
    </message>
    <message>
        <source>The folder cannot be trusted</source>
        <translation>无法信任该文件夹</translation>
    </message>
    <message>
        <source>The project&apos;s code is trusted.</source>
        <translation>项目的代码受信任。</translation>
    </message>
    <message>
        <source>The project has no code of its own.</source>
        <translation>项目没有自带的代码。</translation>
    </message>
    <message>
        <source>Measuring the project&apos;s own layers…</source>
        <translation>正在测量项目自带的层…</translation>
    </message>
    <message>
        <source>The sizes cannot be measured: {message}</source>
        <translation>无法测量大小：{message}</translation>
    </message>
    <message>
        <source>Choose the Python file of the layer</source>
        <translation>选择该层的 Python 文件</translation>
    </message>
    <message>
        <source>Python files (*.py)</source>
        <translation>Python 文件 (*.py)</translation>
    </message>
    <message>
        <source>The file cannot be used</source>
        <translation>无法使用该文件</translation>
    </message>
    <message>
        <source>Use {name} of {file}</source>
        <translation>使用 {file} 中的 {name}</translation>
    </message>
    <message>
        <source>{file} has several. Which class is the layer?</source>
        <translation>{file} 中有多个。哪个类是该层？</translation>
    </message>
    <message>
        <source>{file} has several. Which function is the layer?</source>
        <translation>{file} 中有多个。哪个函数是该层？</translation>
    </message>
    <message>
        <source>Custom layer</source>
        <translation>自定义层</translation>
    </message>
    <message>
        <source>{file} is not UTF-8 text. Choose a Python file.</source>
        <translation>{file} 不是 UTF-8 文本。请选择 Python 文件。</translation>
    </message>
    <message>
        <source>{file} has no function that can be a layer.</source>
        <translation>{file} 中没有可作为层的函数。</translation>
    </message>
    <message>
        <source>{file} has no class that is an nn.Module that can be a layer.</source>
        <translation>{file} 中没有可作为层的 nn.Module 类。</translation>
    </message>
    <message>
        <source>Starts from {name}</source>
        <translation>从 {name} 开始</translation>
    </message>
    <message>
        <source>Starts from {name}: {count:,} of {total:,} tensors</source>
        <translation>从 {name} 开始：{total:,} 个张量中的 {count:,} 个</translation>
    </message>
    <message>
        <source>{name} cannot be used</source>
        <translation>无法使用 {name}</translation>
    </message>
    <message>
        <source>Main</source>
        <translation>主工具栏</translation>
    </message>
    <message>
        <source>Drop it to import the network.</source>
        <translation>松开以导入网络。</translation>
    </message>
    <message>
        <source>Drop it to use it as data.</source>
        <translation>松开以用作数据。</translation>
    </message>
    <message>
        <source>Drop it to open the project.</source>
        <translation>松开以打开项目。</translation>
    </message>
    <message>
        <source>Drop one file or one folder of this computer.</source>
        <translation>请拖放本机上的一个文件或一个文件夹。</translation>
    </message>
    <message>
        <source>Groups of samples</source>
        <translation>样本的组</translation>
    </message>
    <message>
        <source>Choose a column, class or folder: is the network as good on each group?</source>
        <translation>选择列、类别或文件夹：网络在每个组上是否同样好？</translation>
    </message>
    <message>
        <source>by…</source>
        <translation>按…</translation>
    </message>
    <message>
        <source>by {name}</source>
        <translation>按 {name}</translation>
    </message>
    <message>
        <source>Group samples by</source>
        <translation>样本分组依据</translation>
    </message>
    <message>
        <source>Metric of the groups</source>
        <translation>各组的度量</translation>
    </message>
    <message>
        <source>Computing…</source>
        <translation>正在计算…</translation>
    </message>
    <message>
        <source>Nothing is known of single samples of this output.</source>
        <translation>没有此输出各个样本的信息。</translation>
    </message>
    <message>
        <source>{metric} with 95 % intervals; all samples {score}</source>
        <translation>{metric}，含 95 % 区间；所有样本为 {score}</translation>
    </message>
    <message>
        <source>{value}  ({low} to {high})</source>
        <translation>{value}（{low} 到 {high}）</translation>
    </message>
    <message>
        <source>row {row}, column {column}: {value}</source>
        <translation>第 {row} 行，第 {column} 列：{value}</translation>
    </message>
    <message>
        <source>{caption}: {low} to {high}</source>
        <translation>{caption}：{low} 到 {high}</translation>
    </message>
    <message>
        <source>wrong answer</source>
        <translation>错误答案</translation>
    </message>
    <message>
        <source>sample {place}: {name}; answer {answer}</source>
        <translation>样本 {place}：{name}；答案 {answer}</translation>
    </message>
    <message>
        <source>Accuracy by confidence</source>
        <translation>按置信度的准确度</translation>
    </message>
    <message>
        <source>confidence</source>
        <translation>置信度</translation>
    </message>
    <message>
        <source>{sure} sure, {correct} correct</source>
        <translation>置信度 {sure}，正确 {correct}</translation>
    </message>
    <message>
        <source>Predicted against true {name}</source>
        <translation>{name} 的预测值与真实值</translation>
    </message>
    <message>
        <source>The predictions are not finite numbers.</source>
        <translation>预测值不是有限的数值。</translation>
    </message>
    <message>
        <source>true</source>
        <translation>真实值</translation>
    </message>
    <message>
        <source>predicted {value}</source>
        <translation>预测值 {value}</translation>
    </message>
    <message>
        <source>Error of each predicted number</source>
        <translation>每个预测数值的误差</translation>
    </message>
    <message>
        <source>The errors are not finite numbers.</source>
        <translation>误差不是有限的数值。</translation>
    </message>
    <message>
        <source>Test split</source>
        <translation>测试部分</translation>
    </message>
    <message>
        <source>Validation split</source>
        <translation>验证部分</translation>
    </message>
    <message>
        <source>Training split</source>
        <translation>训练部分</translation>
    </message>
    <message>
        <source>Evaluating the network and writing the report…</source>
        <translation>正在评估网络并写入报告…</translation>
    </message>
    <message>
        <source>an evaluation</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Sample {number:,}</source>
        <translation>样本 {number:,}</translation>
    </message>
    <message>
        <source>true: {label}, predicted: {answer}</source>
        <translation>真实：{label}，预测：{answer}</translation>
    </message>
    <message>
        <source>confidence {confidence}, loss {loss}</source>
        <translation>置信度 {confidence}，损失 {loss}</translation>
    </message>
    <message>
        <source>error {error}</source>
        <translation>误差 {error}</translation>
    </message>
    <message>
        <source>IoU of {name}: {value}</source>
        <translation>{name} 的 IoU：{value}</translation>
    </message>
    <message>
        <source>image, true classes, predicted classes, wrong pixels</source>
        <translation>图像、真实类别、预测类别、错误像素</translation>
    </message>
    <message>
        <source>Mean IoU</source>
        <translation>平均 IoU</translation>
    </message>
    <message>
        <source>IoU</source>
        <translation>IoU</translation>
    </message>
    <message>
        <source>Trials that have ended are shown here.</source>
        <translation>此处显示已结束的试验。</translation>
    </message>
    <message>
        <source>Show the whole axes again (double click)</source>
        <translation>重新显示整个轴（双击）</translation>
    </message>
    <message>
        <source>Show all of {title}</source>
        <translation>显示全部{title}</translation>
    </message>
    <message>
        <source>Trial {number}</source>
        <translation>试验 {number}</translation>
    </message>
    <message>
        <source>Pareto front</source>
        <comment>plot</comment>
        <translation>帕累托前沿</translation>
    </message>
    <message>
        <source>Pareto front</source>
        <translation>帕累托前沿</translation>
    </message>
    <message>
        <source>Trials that no other one beats in every objective are on the front.</source>
        <translation>没有其他试验在每个目标上都更好的试验位于前沿上。</translation>
    </message>
    <message>
        <source>Objective to the right</source>
        <translation>横轴的目标</translation>
    </message>
    <message>
        <source>Objective upwards</source>
        <translation>纵轴的目标</translation>
    </message>
    <message>
        <source>A Pareto front needs several objectives: name them in Objectives, such as validation.accuracy, parameters.</source>
        <translation>帕累托前沿需要多个目标：请在“目标”中列出，例如 validation.accuracy, parameters。</translation>
    </message>
    <message>
        <source>{count:,} on the front</source>
        <translation>前沿上有 {count:,} 个</translation>
    </message>
    <message>
        <source>Computing how much each parameter matters…</source>
        <translation>正在计算每个参数的影响程度…</translation>
    </message>
    <message>
        <source>Importance</source>
        <comment>plot</comment>
        <translation>重要性</translation>
    </message>
    <message>
        <source>Importance</source>
        <translation>重要性</translation>
    </message>
    <message>
        <source>Share of the differences between trials that each parameter explains: functional ANOVA over a random forest (Hutter et al., 2014).</source>
        <translation>每个参数所解释的试验间差异的比例：基于随机森林的函数方差分析（Hutter 等，2014）。</translation>
    </message>
    <message>
        <source>Objective</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Importances compare parameters: at least two have to differ between the trials.</source>
        <translation>重要性用于比较参数：试验之间至少要有两个参数不同。</translation>
    </message>
    <message>
        <source>Importances need at least {least} finished trials; there are {count}.</source>
        <translation>重要性至少需要 {least} 次已完成的试验；现有 {count} 次。</translation>
    </message>
    <message>
        <source>Landscape</source>
        <comment>plot</comment>
        <translation>景观图</translation>
    </message>
    <message>
        <source>Landscape</source>
        <translation>景观图</translation>
    </message>
    <message>
        <source>The objective over two values, a cell per trial. Of several trials in a cell the best one counts.</source>
        <translation>目标随两个值的变化，每次试验一个单元格。同一单元格有多次试验时取最佳的一次。</translation>
    </message>
    <message>
        <source>Value to the right</source>
        <translation>横轴的值</translation>
    </message>
    <message>
        <source>Value upwards</source>
        <translation>纵轴的值</translation>
    </message>
    <message>
        <source>A landscape needs two values that differ between the trials.</source>
        <translation>景观图需要两个在试验之间不同的值。</translation>
    </message>
    <message>
        <source>Matrix</source>
        <comment>plot</comment>
        <translation>矩阵</translation>
    </message>
    <message>
        <source>Scatter matrix</source>
        <translation>散点矩阵</translation>
    </message>
    <message>
        <source>Every pair of values and objectives. The better a trial, the stronger its point.</source>
        <translation>每一对值和目标。试验越好，其点越醒目。</translation>
    </message>
    <message>
        <source>{count} of {total} axes</source>
        <translation>{total} 个轴中的 {count} 个</translation>
    </message>
    <message>
        <source>Slice</source>
        <comment>plot</comment>
        <translation>切片</translation>
    </message>
    <message>
        <source>Slice</source>
        <translation>切片</translation>
    </message>
    <message>
        <source>The objective over each value. The better a trial, the stronger its point.</source>
        <translation>目标随每个值的变化。试验越好，其点越醒目。</translation>
    </message>
    <message>
        <source>Put the values of the best or the selected trial into the project; can be undone</source>
        <translation>将最佳或所选试验的值放入工程；可以撤销</translation>
    </message>
    <message>
        <source>No trial has a value of the objective yet</source>
        <translation>尚无试验有目标的值</translation>
    </message>
    <message>
        <source>Add what varies at the right. Each combination becomes a trial, a row here, and the best is marked.</source>
        <translation>在右侧添加变化的内容。每种组合成为一次试验，即此处的一行，最佳的会被标出。</translation>
    </message>
    <message>
        <source>Apply best</source>
        <translation>应用最佳</translation>
    </message>
    <message>
        <source>Continue with the trials that are left</source>
        <translation>继续进行剩余的试验</translation>
    </message>
    <message>
        <source>Along</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>The runner reads the data; each trial is a row here as soon as it begins.</source>
        <translation>运行程序正在读取数据；每次试验一开始就成为此处的一行。</translation>
    </message>
    <message>
        <source>The first trials begin</source>
        <translation>首批试验正在开始</translation>
    </message>
    <message>
        <source>It ended before its first trial. Edit a copy to begin again.</source>
        <translation>它在首次试验之前就结束了。编辑副本可重新开始。</translation>
    </message>
    <message>
        <source>No trials</source>
        <translation>没有试验</translation>
    </message>
    <message>
        <source>The sweep cannot begin</source>
        <translation>扫描无法开始</translation>
    </message>
    <message>
        <source>{path} is damaged: it names no objective.</source>
        <translation>{path} 已损坏：其中没有目标。</translation>
    </message>
    <message numerus="yes">
        <source>Reading, %n trial(s)…</source>
        <translation>
            <numerusform>正在读取，%n 次试验…</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Apply trial {number}</source>
        <translation>应用试验 {number}</translation>
    </message>
    <message>
        <source>Use the values of trial {number}</source>
        <translation>使用试验 {number} 的值</translation>
    </message>
    <message>
        <source>The values do not fit the project</source>
        <translation>这些值不适合该工程</translation>
    </message>
    <message>
        <source>The project has the values of trial {number}; undo takes them back.</source>
        <translation>工程已采用试验 {number} 的值；撤销可恢复。</translation>
    </message>
    <message>
        <source>By {name}</source>
        <translation>按{name}</translation>
    </message>
    <message>
        <source>By trial</source>
        <translation>按试验</translation>
    </message>
    <message>
        <source>Edit a copy</source>
        <translation>编辑副本</translation>
    </message>
    <message>
        <source>Define another sweep, beginning with this one</source>
        <translation>以此扫描为起点定义另一个扫描</translation>
    </message>
    <message>
        <source>Varies</source>
        <translation>变化内容：</translation>
    </message>
    <message>
        <source>Only seeds or folds vary</source>
        <translation>仅种子或折变化</translation>
    </message>
    <message>
        <source>{runs:,} runs each</source>
        <translation>每次 {runs:,} 个运行</translation>
    </message>
    <message>
        <source>Select a trial to see its results. Select several to compare them.</source>
        <translation>选择一次试验可查看其结果。选择多次试验可进行比较。</translation>
    </message>
    <message>
        <source>{right:,} of {total:,} right</source>
        <translation>{total:,} 个中有 {right:,} 个正确</translation>
    </message>
    <message>
        <source>{text}. Most frequent error: {actual} taken for {predicted}, {count:,} times</source>
        <translation>{text}。最常见的错误：{actual} 被误认为 {predicted}，{count:,} 次</translation>
    </message>
    <message>
        <source>Train this trial again; its files are kept</source>
        <translation>重新训练此试验；保留其文件</translation>
    </message>
    <message>
        <source>Differs from the project</source>
        <translation>与工程的差异</translation>
    </message>
    <message>
        <source>Values and results</source>
        <translation>值和结果</translation>
    </message>
    <message>
        <source>{count:,} trials selected</source>
        <translation>已选择 {count:,} 次试验</translation>
    </message>
    <message>
        <source>No trial selected</source>
        <translation>未选择试验</translation>
    </message>
    <message>
        <source>In nothing</source>
        <translation>没有差异</translation>
    </message>
    <message>
        <source>Differs from trial {number}</source>
        <translation>与试验 {number} 的差异</translation>
    </message>
    <message>
        <source>What the trials reach</source>
        <translation>试验达到的结果</translation>
    </message>
    <message>
        <source>trial</source>
        <translation>试验</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <translation>无法读取 {path}：{reason}。</translation>
    </message>
    <message>
        <source>mean {mean}, best {best}</source>
        <translation>均值 {mean}，最佳 {best}</translation>
    </message>
    <message>
        <source>The best trial</source>
        <translation>最佳试验</translation>
    </message>
    <message>
        <source>The baseline</source>
        <translation>基线</translation>
    </message>
    <message>
        <source>{objective} while it trained</source>
        <translation>训练过程中的{objective}</translation>
    </message>
    <message>
        <source>Words and conditions, all of which must match:</source>
        <translation>词语和条件，必须全部匹配：</translation>
    </message>
    <message>
        <source>Find trials</source>
        <translation>查找试验</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>Show or hide hidden trials</source>
        <translation>显示或隐藏已隐藏的试验</translation>
    </message>
    <message>
        <source>Show the trials in groups by the values of columns, with mean and best</source>
        <translation>按列的值将试验分组显示，并给出均值和最佳值</translation>
    </message>
    <message>
        <source>Choose columns; drag their headers to move them</source>
        <translation>选择列；拖动列标题可移动列</translation>
    </message>
    <message>
        <source>Show {count:,} hidden</source>
        <translation>显示 {count:,} 个已隐藏的试验</translation>
    </message>
    <message>
        <source>Hide {count:,} hidden</source>
        <translation>隐藏 {count:,} 个已隐藏的试验</translation>
    </message>
    <message>
        <source>No groups</source>
        <translation>不分组</translation>
    </message>
    <message>
        <source>In groups by {names}</source>
        <translation>按 {names} 分组</translation>
    </message>
    <message>
        <source>Show the trials in groups</source>
        <translation>将试验分组显示</translation>
    </message>
    <message>
        <source>Trains the project with other values until the time is over, and proves the best ones against the project as it is, in pairs of equal seeds. Only what is better by more than chance is applied; Edit &gt; Undo takes it back.</source>
        <translation>用其他值训练工程直到时间用完，并以相同种子成对地将最佳的值与当前工程比较。只有好于偶然差异的值才会应用；“编辑”&gt;“撤销”可恢复。</translation>
    </message>
    <message>
        <source>The trials are on the Runs page.</source>
        <translation>试验显示在“运行”页上。</translation>
    </message>
    <message>
        <source>Tune</source>
        <translation>调优</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>正在查看</translation>
    </message>
    <message>
        <source>Cancelled: the project is as it was. {note}</source>
        <translation>已取消：工程保持原样。{note}</translation>
    </message>
    <message>
        <source>Tune for me</source>
        <translation>为我调优</translation>
    </message>
    <message>
        <source> min</source>
        <translation> 分钟</translation>
    </message>
    <message>
        <source>Time for trials and confirmation together</source>
        <translation>试验和确认的总时间</translation>
    </message>
    <message>
        <source>&amp;Budget</source>
        <translation>预算(&amp;B)</translation>
    </message>
    <message>
        <source>Looking at data and network for what to vary…</source>
        <translation>正在查看数据和网络以确定要变化的内容…</translation>
    </message>
    <message>
        <source>Varied</source>
        <translation>变化的内容</translation>
    </message>
    <message>
        <source>Tuning</source>
        <translation>正在调优</translation>
    </message>
    <message>
        <source>{reason} Applied: {values}. {note}</source>
        <translation>{reason} 已应用：{values}。{note}</translation>
    </message>
    <message>
        <source>{reason} The values do not fit the project as it is now.</source>
        <translation>{reason} 这些值不适合当前的工程。</translation>
    </message>
    <message>
        <source>{values}; now {value}</source>
        <translation>{values}；当前为 {value}</translation>
    </message>
    <message>
        <source>Train and watch</source>
        <translation>训练与观察</translation>
    </message>
    <message>
        <source>One press trains the network, in a process of its own: the window stays usable, and the run goes on if you close it.</source>
        <translation>按一下即可开始训练网络。训练在单独的进程中进行：窗口仍可使用，关闭窗口后运行也会继续。</translation>
    </message>
    <message>
        <source>The run has a name, and says how far it is and how long it takes. Its best result so far stands at the right.</source>
        <translation>运行有自己的名称，并显示进度和所需时间。目前的最佳结果在右侧。</translation>
    </message>
    <message>
        <source>The curves grow while it trains: lines for the training samples, dots for the validation samples, which it never learns from. Where these get worse, it learns by heart.</source>
        <translation>曲线随训练不断延伸：线表示训练样本，点表示验证样本，网络从不从验证样本中学习。如果验证结果变差，说明网络在死记硬背。</translation>
    </message>
    <message>
        <source>Stop it when it is good enough. The best weights are kept, and it can be resumed later.</source>
        <translation>结果足够好时即可停止。最佳权重会保留，之后也可以继续训练。</translation>
    </message>
    <message>
        <source>Every run of the project is listed here, with its score. Hold Ctrl and click a second one to compare them.</source>
        <translation>工程的每次运行及其分数都列在这里。按住 Ctrl 并点击另一次运行，即可比较两者。</translation>
    </message>
    <message>
        <source>Look at the results</source>
        <translation>查看结果</translation>
    </message>
    <message>
        <source>How good is it on samples that it has never seen? Scores evaluates the run on the test split.</source>
        <translation>网络在从未见过的样本上表现如何？“分数”会在测试集上评估这次运行。</translation>
    </message>
    <message>
        <source>The confusion matrix has a row for each true class and a column for each answer. What is beside the diagonal is mistaken: a click on a cell shows these samples.</source>
        <translation>混淆矩阵的每一行是一个真实类别，每一列是一个答案。对角线以外的都是错误：点击单元格可查看其中的样本。</translation>
    </message>
    <message>
        <source>These are the samples that it gets most wrong. Often they tell that a label is wrong.</source>
        <translation>这些是错得最严重的样本。它们往往说明标签本身有误。</translation>
    </message>
    <message>
        <source>Try it yourself: Predict asks the network about samples of your own.</source>
        <translation>亲自试一试：“预测”让网络回答您自己的样本。</translation>
    </message>
    <message>
        <source>Draw a digit here. The answers beside it follow while you draw; files can be dropped as well.</source>
        <translation>在这里画一个数字。旁边的答案会随您的绘制而更新；也可以拖放文件。</translation>
    </message>
    <message>
        <source>Explain shows what the network looks at: the parts of a picture that decide its answer.</source>
        <translation>“解释”显示网络关注的内容：图像中决定答案的部分。</translation>
    </message>
    <message>
        <source>Take it away</source>
        <translation>导出与试验</translation>
    </message>
    <message>
        <source>The trained network leaves by File &gt; Export network, or by this button below the run.</source>
        <translation>通过“文件 &gt; 导出网络”或运行下方的这个按钮，可以导出训练好的网络。</translation>
    </message>
    <message>
        <source>ONNX runs nearly everywhere. PyTorch is one readable file that needs no Netwright, with a training script beside it if you like.</source>
        <translation>ONNX 几乎可以在任何地方运行。PyTorch 是一个可读的文件，不需要 Netwright，还可以附带训练脚本。</translation>
    </message>
    <message>
        <source>Before the file is written, its answers are compared with those of PyTorch, and the difference is told.</source>
        <translation>写入文件之前，会将其答案与 PyTorch 的答案进行比较，并告知差异。</translation>
    </message>
    <message>
        <source>Better values are found by a sweep: many runs with other learn rates, sizes or layers, side by side.</source>
        <translation>扫描可以找到更好的值：用不同的学习率、大小或层进行多次运行，并排比较。</translation>
    </message>
    <message>
        <source>Choose here what is to vary, how it is searched and for how long. The best values go back into the project.</source>
        <translation>在这里选择要变化的内容、搜索方式和时长。最佳值会放回工程中。</translation>
    </message>
    <message>
        <source>That was the tour. It is always here, under Help. F1 opens the page of the manual about what has the focus.</source>
        <translation>导览到此结束。它始终在“帮助”菜单中。按 F1 可打开与当前焦点有关的手册页。</translation>
    </message>
</context>
</TS>
